import { findsUsers, type Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureExecutedDeposit, FixtureUser } from '../../schemas/generated/types.ts';

/** What a key is worth (Authentication). */
export type KeyFact =
  | 'accepted'
  /** An accepted key in a form that the interface does not show, such as `bearer`: accepted or refused. */
  | 'open'
  /** A key in the query, a cookie, another header or the body. */
  | 'elsewhere'
  | Refusal;

/** Why a key must be refused. */
export type Refusal = 'missing' | 'malformed' | 'unknown-key' | 'revoked' | 'expired' | 'non-partner';

/** What a parameter is (GET user-status, user_id; GET deposit-check, reference_id). */
export type ParameterFact =
  | 'plain'
  | 'missing'
  | 'empty'
  | 'malformed'
  /** A UUID of another version, on user-status. */
  | 'not-v4'
  /** Another notation of a UUID: braces, URN, other hyphens, white space around it; or other variant bits. */
  | 'alternative-spelling'
  /** A query that may break a parser. */
  | 'hostile';

/** What the partner of the key sees for an id (Deposit states). */
export type Entity = 'own user' | 'EXECUTED' | 'pending' | 'failed' | 'foreign' | 'unknown';

/**
 * What is known about a lookup before its answer. Plain data, which the rows of the catalogue read. What cannot matter
 * has its plain value: a refused key sees nothing, an invalid parameter has no spelling.
 */
export interface Facts {
  readonly endpoint: Endpoint;
  readonly key: KeyFact;
  /** Whether the key belongs to another partner than the one under test. */
  readonly isOtherKey: boolean;
  readonly parameter: ParameterFact;
  /** Whether the interface is silent about this spelling of the query: a server may read or refuse it. */
  readonly isOpen: boolean;
  /** Whether only white space around the id is wrong. */
  readonly isSpaced: boolean;
  /** Whether unreserved characters of the id, or of the name of its parameter, are percent-encoded. */
  readonly isEncoded: boolean;
  /** Whether the query has no other parameters. */
  readonly isAlone: boolean;
  /** Whether the id has upper-case letters. */
  readonly isCased: boolean;
  /** Whether the id is a UUID of another version than 4, on deposit-check. */
  readonly isOtherVersion: boolean;
  readonly entity: Entity;
  /** Whether the deposit is pending and becomes EXECUTED during the run, by the fixture. */
  readonly isBecoming: boolean;
  /** Whether the entity, foreign to the partner of the key, belongs to the partner under test. */
  readonly isOurs: boolean;
  /** All of the above in one text. No row tells apart two lookups of the same kind. */
  readonly kind: string;
  /** The user or EXECUTED deposit that the partner of the key sees. */
  readonly user: FixtureUser | undefined;
  readonly deposit: FixtureExecutedDeposit | undefined;
}

/** Facts before what cannot matter is left out. */
export type RawFacts = Omit<Facts, 'kind'>;

/** The plain lookup of an endpoint: an accepted key, a plain parameter, an entity that the partner sees. */
export const plainFacts = (endpoint: Endpoint): RawFacts => ({
  endpoint,
  key: 'accepted',
  isOtherKey: false,
  parameter: 'plain',
  isOpen: false,
  isSpaced: false,
  isEncoded: false,
  isAlone: true,
  isCased: false,
  isOtherVersion: false,
  entity: findsUsers(endpoint) ? 'own user' : 'EXECUTED',
  isBecoming: false,
  isOurs: true,
  user: undefined,
  deposit: undefined,
});

/** Sets what cannot matter to its plain value, and adds the kind. */
export function completeFacts(raw: RawFacts): Facts {
  const { endpoint, key, parameter } = raw;
  const isPlain = parameter === 'plain';
  const isSeen = (key === 'accepted' || key === 'open') && (isPlain || parameter === 'alternative-spelling');
  const isRead = isSeen && isPlain;
  const entity = isSeen ? raw.entity : 'unknown';
  const facts: RawFacts = {
    endpoint,
    key,
    isOtherKey: isSeen && raw.isOtherKey,
    parameter,
    isOpen: raw.isOpen && ((isPlain && key !== 'elsewhere') || parameter === 'hostile'),
    isSpaced: (parameter === 'malformed' || parameter === 'alternative-spelling') && raw.isSpaced,
    isEncoded: isRead && raw.isEncoded,
    isAlone: !isRead || raw.isAlone,
    isCased: isRead && raw.isCased,
    isOtherVersion: isRead && raw.isOtherVersion,
    entity,
    isBecoming: isSeen && raw.isBecoming,
    isOurs: entity === 'foreign' && raw.isOurs,
    user: isSeen ? raw.user : undefined,
    deposit: isSeen ? raw.deposit : undefined,
  };
  return { ...facts, kind: kindOf(facts) };
}

const kindOf = (facts: RawFacts): string =>
  `${facts.endpoint} ${facts.key} ${facts.parameter} ${facts.entity}` +
  `${facts.isOtherKey ? ' other-key' : ''}${facts.isOpen ? ' open' : ''}` +
  `${facts.isSpaced ? ' spaced' : ''}${facts.isEncoded ? ' encoded' : ''}${facts.isAlone ? '' : ' with-others'}` +
  `${facts.isCased ? ' cased' : ''}${facts.isOtherVersion ? ' other-version' : ''}` +
  `${facts.isBecoming ? ' becoming' : ''}${facts.isOurs ? ' ours' : ''}`;

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

/** Lookups that a row is about if their id is plain, and that may get its answer in another notation too. */
export const inAnyNotation = (...conditions: readonly Condition[]) => ({
  when: all(isPlain, ...conditions),
  also: all(isReadable, ...conditions),
});

export const isOtherKey: Condition = (facts) => facts.isOtherKey;

/** The key belongs to the partner under test. */
export const isOurKey = not(isOtherKey);

export const isOurs: Condition = (facts) => facts.isOurs;
export const isBecoming: Condition = (facts) => facts.isBecoming;
export const isSpaced: Condition = (facts) => facts.isSpaced;
export const isCased: Condition = (facts) => facts.isCased;
export const isOtherVersion: Condition = (facts) => facts.isOtherVersion;

/** Only the percent-encoding of the id is unusual. */
export const isOnlyEncoded: Condition = (facts) => facts.isEncoded && facts.isAlone;

/** A server that does not decode the id, or that reads other notations as they are, looks up another one. */
export const mayBeAnotherId = any((facts) => facts.isEncoded, hasParameter('alternative-spelling'));

/** 400 is right too: the interface is silent about this spelling of the query. */
export const mayBeRefused = all(hasParameter('plain'), (facts) => facts.isOpen);
