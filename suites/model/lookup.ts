import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known, KnownKey } from '../known.ts';
import type { Credential, Request } from '../request.ts';
import { canonicalOf, classifyUuid, type UuidClass } from './uuid.ts';

/** Why a credential must be refused. This is the last part of the requirement's id. */
export type Refusal =
  'missing' | 'malformed' | 'unknown-key' | 'revoked' | 'expired' | 'non-partner' | 'header-only';

/** The key that a credential gives access with, or why it must be refused (Authentication). */
export type Access =
  | { readonly key: KnownKey & { readonly partner: string }; readonly mayBeRefused: boolean }
  | { readonly key?: never; readonly refusal: Refusal };

/** Why a parameter must be refused. This is the last part of the requirement's id. */
export type Invalid = 'missing' | 'empty' | 'malformed' | 'not-v4' | 'alternative-spelling';

/** What a query asks for. */
export interface Parameter {
  /** The id that a server may read, in lower case. */
  readonly id?: string;
  /** Why 400 is correct. */
  readonly invalid?: Invalid;
  /** Whether 400 is correct too, because the interface is silent. */
  readonly isOpen: boolean;
  /** Whether unreserved characters are percent-encoded. */
  readonly isEncoded: boolean;
  /** Whether there are no other parameters. A server may refuse unknown ones. */
  readonly isAlone: boolean;
  /** A spelling that must be accepted. */
  readonly spelling?: 'uuid-case' | 'any-uuid-version';
  readonly uuid: UuidClass;
}

/** A query that may break a parser. Any 4xx is correct. */
export interface Hostile {
  readonly isHostile: true;
  /** Whether it contains a valid id in an unusual place, so that reading it is correct too. */
  readonly mayBeRead: boolean;
}

/** Maximum length of an encoded value that every server must accept, in octets. */
const MAX_VALUE_LENGTH = 1024;

/** Maximum length of a query that every server must accept, in octets. */
const MAX_QUERY_LENGTH = 2048;

/** The access that the credential of a request gives. */
export function accessOf(known: Known, { credential, misplaced }: Request): Access {
  const value = authorizationOf(credential, known.callerKeys[0]);
  if (value === undefined) return { refusal: misplaced === undefined ? 'missing' : 'header-only' };
  const token = /^\s*bearer[ \t]+(\S+)\s*$/i.exec(value)?.[1];
  if (token === undefined) return { refusal: 'malformed' };
  const key = known.everyKey.find((one) => one.key === token);
  if (key === undefined) return { refusal: 'unknown-key' };
  if (key.state !== 'active') return { refusal: key.state };
  const { partner } = key;
  if (partner === null) return { refusal: 'non-partner' };
  // The interface shows only this form and is silent about others of the same scheme.
  return { key: { ...key, partner }, mayBeRefused: value !== `Bearer ${token}` };
}

/** The value of the Authorization header; undefined if there is none. */
export function authorizationOf(credential: Credential, caller: KnownKey | undefined): string | undefined {
  switch (credential.as) {
    case 'caller':
      return caller && `Bearer ${caller.key}`;
    case 'key':
      return `${credential.scheme ?? 'Bearer'} ${credential.key.key}`;
    case 'header':
      return credential.value;
    case 'none':
      return undefined;
  }
}

/**
 * What a query asks for.
 *
 * @param target path and query
 * @returns undefined if the interface is silent: a repeated parameter, or another letter case of its name
 */
export function parameterOf(endpoint: Endpoint, target: string): Parameter | Hostile | undefined {
  const { parameter, path } = endpoints[endpoint];
  const mark = target.indexOf('?');
  if ((mark < 0 ? target : target.slice(0, mark)) !== path) return undefined;
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const pairs = query.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return equals < 0 ? ([pair, ''] as const) : ([pair.slice(0, equals), pair.slice(equals + 1)] as const);
  });
  const own = pairs.filter(([name]) => name === parameter);
  if (isHostile(query, pairs, parameter)) {
    const holdsId = !['malformed', 'empty'].includes(classifyUuid(pairs[0]![1]));
    return { isHostile: true, mayBeRead: own.length === 0 && holdsId };
  }
  if (own.length > 1 || pairs.some(([name]) => name !== parameter && name.toLowerCase() === parameter))
    return undefined;
  const isAlone = pairs.length === 1;
  const none = { isOpen: false, isEncoded: false, isAlone };
  if (own[0] === undefined) return { ...none, invalid: 'missing', uuid: 'malformed' };
  const raw = own[0][1];
  const value = decoded(raw);
  const uuid = classifyUuid(value);
  if (uuid === 'empty' || uuid === 'malformed') return { ...none, invalid: uuid, uuid };
  const id = canonicalOf(value);
  const isUser = endpoint === 'user-status';
  if (isUser && uuid !== 'v4' && uuid !== 'alternative-spelling')
    return { ...none, id, invalid: 'not-v4', uuid };
  const isVariant = uuid === 'alternative-spelling' && value.toLowerCase() === id;
  if (uuid === 'alternative-spelling' && (isUser || !isVariant))
    return { ...none, id, invalid: 'alternative-spelling', uuid };
  const isEncoded = raw !== value;
  const isPlain = uuid === 'v4' || uuid === 'other-version';
  const spelling = value === id ? (uuid === 'other-version' ? 'any-uuid-version' : undefined) : 'uuid-case';
  return {
    id,
    isOpen: !isAlone || isEncoded || !isPlain,
    isEncoded,
    isAlone,
    ...(spelling === undefined || !isPlain ? {} : { spelling }),
    uuid,
  };
}

/** Whether a query is broken, nested, or longer than a server must accept. */
function isHostile(query: string, pairs: readonly (readonly [string, string])[], parameter: string): boolean {
  return (
    query.length > MAX_QUERY_LENGTH ||
    isUndecodable(query) ||
    pairs.some(
      ([name, value]) =>
        (name === '' && query !== '') ||
        value.length > MAX_VALUE_LENGTH ||
        value.startsWith('=') ||
        (name.startsWith(parameter) && /[[.]/.test(name)),
    )
  );
}

function isUndecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return false;
  } catch {
    return true;
  }
}

const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
