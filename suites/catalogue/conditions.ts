import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Entity, Facts, KeyFact, ParameterFact } from './facts.ts';

/** Says which lookups a row is about. */
export type Condition = (facts: Facts) => boolean;

export const all =
  (...conditions: readonly Condition[]): Condition =>
  (facts) =>
    conditions.every((holds) => holds(facts));

export const any =
  (...conditions: readonly Condition[]): Condition =>
  (facts) =>
    conditions.some((holds) => holds(facts));

export const not =
  (condition: Condition): Condition =>
  (facts) =>
    !condition(facts);

export const on =
  (endpoint: Endpoint): Condition =>
  (facts) =>
    facts.endpoint === endpoint;

export const hasKey =
  (...keys: readonly KeyFact[]): Condition =>
  ({ key }) =>
    keys.includes(key);

export const hasParameter =
  (...parameters: readonly ParameterFact[]): Condition =>
  ({ parameter }) =>
    parameters.includes(parameter);

/** The partner of the key sees this entity. */
export const sees =
  (...entities: readonly Entity[]): Condition =>
  ({ entity }) =>
    entities.includes(entity);

/** A server may read the parameter with this key: it is accepted, or nothing says that it must be refused. */
export const isKeyRead = hasKey('accepted', 'open');

/** The key is in the Authorization header, or there is none. */
export const isKeyInPlace = not(hasKey('elsewhere'));

/** A server must read the key and the id, whatever else is in the query. */
export const isPlain = all(isKeyRead, hasParameter('plain'));

/** A server may read the key and the id. */
export const isReadable = all(isKeyRead, hasParameter('plain', 'alternative-spelling'));

export const isOtherKey: Condition = (facts) => facts.isOtherKey;

/** The key belongs to the partner under test. */
export const isOurKey = not(isOtherKey);

export const isOurs: Condition = (facts) => facts.isOurs;
export const isBecoming: Condition = (facts) => facts.isBecoming;
export const isCased: Condition = (facts) => facts.isCased;
export const isOtherVersion: Condition = (facts) => facts.isOtherVersion;

/** Only the percent-encoding of the id is unusual. */
export const isOnlyEncoded: Condition = (facts) => facts.isEncoded && facts.isAlone;

/** A server that does not decode the id, or that reads other notations as they are, looks up another one. */
export const mayBeAnotherId = any((facts) => facts.isEncoded, hasParameter('alternative-spelling'));

/** 400 is right too: the interface is silent about this spelling of the query. */
export const mayBeRefused = all(hasParameter('plain'), (facts) => facts.isOpen);
