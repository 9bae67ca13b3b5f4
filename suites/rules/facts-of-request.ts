import { endpoints, findsUsers, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import { oncePer } from '../../schemas/values.ts';
import { completeFacts, plainFacts, type Facts, type KeyFact, type RawFacts } from './facts.ts';
import type { Known, KnownKey } from '../known.ts';
import { canonicalOf, classifyUuid, isSpaced } from '../inputs/uuids.ts';
import { decoded, isLookup, queryOf, type Credential, type Request } from '../request.ts';

/** Maximum length of an encoded value that every server must accept, in octets. */
const MAX_VALUE_LENGTH = 1024;

/** Maximum length of an unknown key that every server must read, in octets. */
const MAX_KEY_LENGTH = 256;

/** Maximum length of a query that every server must accept, in octets. */
const MAX_QUERY_LENGTH = 2048;

/** Each lookup is judged several times. */
const factsFor = oncePer((known: Known) =>
  oncePer((request: Request): Facts | undefined =>
    isSilentAbout(known, request) ? undefined : readFacts(known, request),
  ),
);

/**
 * The facts of a request, as it was sent.
 *
 * @returns undefined if the interface says nothing about it: another method or path, a repeated parameter, another
 * letter case of its name, a URL as target, a header field that may mean another one or ask for 304, a key that is long
 * or not ASCII, an Accept field without JSON
 */
export const factsOf = (known: Known, request: Request): Facts | undefined => factsFor(known)(request);

/** Whether the interface says nothing about the form of a request. */
const isSilentAbout = ({ callerKeys }: Known, request: Request): boolean =>
  request.isAbsolute === true ||
  isRewritten(request) ||
  !acceptsJson(request) ||
  hasLongKey(request) ||
  /[^ -~\t]/.test(authorizationOf(request.credential, callerKeys[0]) ?? '');

/** A front end may refuse a field that is so long (RFC 6585 5), if no issued key is like it. */
const hasLongKey = ({ credential }: Request): boolean =>
  credential.as === 'header' && credential.key === undefined && credential.value.length > MAX_KEY_LENGTH;

/**
 * Header fields that may mean another request: a second Authorization, or another method, path or host. A server may
 * also refuse the origin of another site, and answer 304 to a tag.
 */
const rewriting = new Set([
  'authorization',
  'if-none-match',
  'origin',
  'x-http-method-override',
  'x-original-url',
  'x-rewrite-url',
  'x-forwarded-host',
  'x-forwarded-prefix',
]);

const isRewritten = ({ headers }: Request): boolean =>
  Object.keys(headers).some((name) => rewriting.has(name.toLowerCase()));

/** Whether JSON is acceptable (RFC 9110 12.5.1): without it, a server may answer 406 or another format. */
function acceptsJson({ headers }: Request): boolean {
  const isJson = (range: string) => /^\s*(?:\*|application)\/(?:\*|json)\s*(?:;|$)/i.test(range);
  const isRefused = (range: string) => /;\s*q=0(?:\.0*)?\s*$/i.test(range);
  return headers['accept']?.split(',').some((range) => isJson(range) && !isRefused(range)) ?? true;
}

function readFacts(known: Known, request: Request): Facts | undefined {
  const { endpoint } = request;
  const isOurs = isLookup(request) && known.callerKeys.length > 0;
  const read = isOurs ? queryFacts(endpoint, queryOf(request)) : undefined;
  if (read === undefined) return undefined;
  const { key, found: presented } = presentedKey(known, request);
  const partner = key === 'accepted' || key === 'open' ? (presented?.partner ?? undefined) : undefined;
  const { id, ...parameter } = read;
  return completeFacts({
    ...plainFacts(endpoint),
    key,
    isOtherKey: partner !== known.partner,
    ...parameter,
    ...viewOf(known, endpoint, partner, id),
  });
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

/** What the credential of a request is worth, and the issued key in it (Authentication). */
export function presentedKey(
  known: Known,
  { credential, misplaced }: Request,
): { readonly key: KeyFact; readonly found?: KnownKey } {
  const value = authorizationOf(credential, known.callerKeys[0]);
  if (value === undefined) return { key: misplaced === undefined ? 'missing' : 'elsewhere' };
  const token = /^\s*bearer[ \t]+(\S+)\s*$/i.exec(value)?.[1];
  if (token === undefined) return { key: 'malformed' };
  const found = known.everyKey.find((one) => one.key === token);
  if (found === undefined) return { key: 'unknown-key' };
  if (found.state !== 'active') return { key: found.state, found };
  if (found.partner === null) return { key: 'non-partner', found };
  const isOpen = value !== `Bearer ${token}` || found.mayBeRefused === true;
  return { key: isOpen ? 'open' : 'accepted', found };
}

type QueryFacts = Partial<RawFacts> & {
  /** The id that a server may read, in lower case. */
  readonly id?: string;
};

/** What a query asks for; undefined if the interface is silent. */
function queryFacts(endpoint: Endpoint, query: string): QueryFacts | undefined {
  const { parameter } = endpoints[endpoint];
  const pairs = query.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    const [written, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    return { name: decoded(written) ?? written, written, value };
  });
  const own = pairs.filter(({ name }) => name === parameter);
  if (isHostile(query, pairs, parameter)) {
    // It may contain a valid id in an unusual place, so that reading it is correct too.
    const holdsId = !['malformed', 'empty'].includes(classifyUuid(pairs[0]!.value));
    return { parameter: 'hostile', isOpen: own.length === 0 && holdsId };
  }
  if (own.length > 1 || pairs.some(({ name }) => name !== parameter && name.toLowerCase() === parameter))
    return undefined;
  return own[0] === undefined ? { parameter: 'missing' } : valueOf(endpoint, own[0], pairs.length === 1);
}

/** What the value of the parameter is. */
function valueOf(endpoint: Endpoint, { name, written, value: raw }: Pair, isAlone: boolean): QueryFacts {
  const value = decodeURIComponent(raw.replaceAll('+', ' '));
  const uuid = classifyUuid(value);
  if (uuid === 'empty' || uuid === 'malformed') return { parameter: uuid, isSpaced: isSpaced(value) };
  const id = canonicalOf(value);
  const isV4 = needsVersion4(endpoint);
  if (isV4 && uuid !== 'v4' && uuid !== 'alternative-spelling') return { parameter: 'not-v4' };
  const isVariant = uuid === 'alternative-spelling' && value.toLowerCase() === id;
  if (uuid === 'alternative-spelling' && (isV4 || !isVariant))
    return { parameter: 'alternative-spelling', id, isSpaced: isSpaced(value) };
  const isEncoded = raw !== value || written !== name;
  const isUuid = uuid === 'v4' || uuid === 'other-version';
  return {
    id,
    isOpen: !isAlone || isEncoded || !isUuid,
    isEncoded,
    isAlone,
    isCased: isUuid && value !== id,
    isOtherVersion: uuid === 'other-version',
  };
}

interface Pair {
  readonly name: string;
  /** The name as sent. */
  readonly written: string;
  readonly value: string;
}

/** Whether a query is broken, nested, or longer than a server must accept. */
function isHostile(query: string, pairs: readonly Pair[], parameter: string): boolean {
  return (
    query.length > MAX_QUERY_LENGTH ||
    decoded(query) === undefined ||
    pairs.some(
      ({ name, value }) =>
        (name === '' && query !== '') ||
        value.length > MAX_VALUE_LENGTH ||
        value.startsWith('=') ||
        value.includes(';') ||
        (name.startsWith(parameter) && /[[.]/.test(name)),
    )
  );
}

/** What a partner sees for an id (GET user-status, 200; GET deposit-check, 200 and 404; Deposit states). */
function viewOf(known: Known, endpoint: Endpoint, partner: string | undefined, id = ''): Partial<RawFacts> {
  const isUser = findsUsers(endpoint);
  const deposit = isUser ? undefined : known.depositById.get(id);
  const user = known.userById.get(isUser ? id : (deposit?.user_id.toLowerCase() ?? ''));
  if (user === undefined) return { entity: 'unknown', isOurs: false };
  const isOurs = user.partner === known.partner;
  if (user.partner !== partner) return { entity: 'foreign', isOurs };
  if (deposit === undefined) return { entity: 'own user', isOurs, user };
  if (deposit.state === 'EXECUTED') return { entity: 'EXECUTED', isOurs, deposit };
  return { entity: deposit.state, isOurs, isBecoming: 'becomes' in deposit && deposit.becomes !== undefined };
}

/** Whether the answer shows if the key under test is accepted: other requests may be refused before the key is read. */
export function showsKey(known: Known, request: Request): boolean {
  const { credential } = request;
  if (credential.as !== 'key' || !known.callerKeys.some(({ key }) => key === credential.key.key))
    return false;
  const facts = factsOf(known, request);
  return facts?.key === 'accepted' && facts.parameter === 'plain';
}
