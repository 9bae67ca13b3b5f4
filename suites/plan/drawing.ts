import * as fc from 'fast-check';
import { endpoints, findsUsers, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import { tokenOf, type Presentation, type Token } from '../inputs/credentials.ts';
import { hasMixableLetters, neighbours, unknownUuid } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookup, type Request } from '../request.ts';
import { entitiesOf, poolsOf } from './entities.ts';
import { factors, hasPlainGates, plainLevels, situationOf } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { isFeasible, tokensOf } from './lookup-levels.ts';
import { headerLevels, keyLevels } from './credential-levels.ts';
import { fieldsLevels, malformationLevels, spellingLevels } from './levels.ts';

// Shared: arbitraries are slow to create.
const anExtra = fc.constantFrom('verbose=1', 'page=1', 'format=json', '_=1', 'x=', 'y');
const noExtra = fc.constant('');
const anyNumber = fc.nat(1000);
const asCaller = fc.constant<Presentation>({ changes: {} });

/** Maximum number of entities of a partner that are each looked up. */
const MAX_ENTITIES = 100;

/** Maximum length of a value as sent. */
const MAX_LENGTH = 1024;

/**
 * Requests with these levels.
 *
 * @param pick index of the example or entity; drawn without it
 */
export function requestsOf(
  endpoint: Endpoint,
  levels: Levels,
  known: Known,
  pick?: number,
): fc.Arbitrary<Request> {
  const { parameter } = endpoints[endpoint];
  const isNameEncoded = levels.query === 'name percent-encoded';
  const text = spellingLevels[levels['id spelling']]!.spelled(idsOf(endpoint, levels, known, pick));
  // With another partner's entities, the number is that of an entity.
  const isEntity = pick !== undefined && levels.key !== 'active' && findsEntities(endpoint, levels);
  const tokenPick = isEntity ? 0 : pick;
  const query =
    levels.malformation === 'none'
      ? text.map((value): string | undefined => `${parameter}=${value}`)
      : malformed(endpoint, levels, text, pick);
  const further = levels.query.startsWith('extra') ? anExtra : noExtra;
  return fc
    .tuple(query, presentationsOf(levels, known, tokenPick), further)
    .map(([asked, { changes, query: appended }, extra]) => {
      const parts = [
        levels.query === 'extra parameter before' ? extra : undefined,
        isNameEncoded ? asked?.replace(parameter, parameter.replace('_', '%5F')) : asked,
        levels.query === 'extra parameter after' ? extra : undefined,
        appended,
      ].filter((part) => part !== undefined);
      // An empty part beside others would be a broken query.
      const used = parts.length > 1 ? parts.filter((part) => part !== '') : parts;
      const { headers, ...more } = fieldsLevels[levels.fields]!.changes;
      const all = { ...changes, ...more, headers: { ...headers, ...changes.headers } };
      return lookup(endpoint, used.length === 0 ? undefined : used.join('&'), all);
    });
}

/** The level of the situation that the partner of a key sees; undefined for a key without entities. */
function seenWith(key: string, endpoint: Endpoint): string | undefined {
  if (key === 'active') return plainLevels(endpoint).situation;
  if (key !== "another partner's") return undefined;
  return findsUsers(endpoint) ? key : `${key} EXECUTED`;
}

/** Whether a row finds entities with the key of their partner, so that each of them is looked up. */
export const findsEntities = (endpoint: Endpoint, levels: Levels): boolean =>
  seenWith(levels.key, endpoint) === levels.situation &&
  factors[endpoint].every(
    ({ name, isGate, names }) => !isGate || name === 'key' || levels[name] === names[0],
  );

/**
 * The entities that a partner sees with its key: rows that find them, each with a number of entities.
 *
 * @param key level of the key
 */
export function entitiesSeen(
  endpoint: Endpoint,
  known: Known,
  key: 'active' | "another partner's",
): readonly (readonly [Levels, number])[] {
  const plain = { ...plainLevels(endpoint), key, situation: seenWith(key, endpoint)! };
  const rows = poolsOf(endpoint, known)
    .filter(({ situation }) => situation === plain.situation)
    .map(({ version, data }): Levels => ({ ...plain, data, 'id version': version }))
    .filter((row) => isFeasible(endpoint, row, known));
  const different = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  const most = Math.ceil(MAX_ENTITIES / Math.max(1, different.length));
  return different.map((row) => [row, Math.min(most, entitiesOf(endpoint, row, known).count)] as const);
}

/** Gates with a list of examples for each level that is not plain. */
export const exampleGates = ['key', 'header', 'malformation'] as const;

/** Number of unknown ids that are close to known ones, for servers that compare only a part of an id. */
const NEIGHBOURS = 3;

/** Number of examples of the one gate that is not plain; without one, of matching entities. */
export function examplesOf(endpoint: Endpoint, levels: Levels, known: Known): number {
  if (hasPlainGates(endpoint, levels) || findsEntities(endpoint, levels))
    return isUnknown(endpoint, levels) ? NEIGHBOURS : entitiesOf(endpoint, levels, known).count;
  if (levels.malformation !== 'none')
    return [
      ...malformationLevels[levels.malformation]!.examples!('x', '0badc0de-0000-4000-8000-000000000000'),
    ].length;
  if (levels.header !== 'Bearer') return headerLevels[levels.header]!.forms.length;
  return levels.key === 'none' ? 1 : tokensOf(levels.key, known).length;
}

/** Whether nobody has the id. */
export const isUnknown = (endpoint: Endpoint, levels: Levels) =>
  situationOf(endpoint, levels.situation).owner === undefined;

function idsOf(endpoint: Endpoint, levels: Levels, known: Known, pick?: number): fc.Arbitrary<string> {
  const { 'id version': version } = levels;
  const withVersion = (id: string) => id.slice(0, 14) + version + id.slice(15);
  const isPicked = pick !== undefined && (hasPlainGates(endpoint, levels) || findsEntities(endpoint, levels));
  if (isUnknown(endpoint, levels)) {
    const isUnused = (id: string) => !known.userById.has(id) && !known.depositById.has(id);
    const near = isPicked ? neighbours(endpoint, known, version)[pick] : undefined;
    const canSpell = (id: string) =>
      spellingLevels[levels['id spelling']]!.needsLetters !== true || hasMixableLetters(id);
    const isUsable =
      near !== undefined &&
      !(findsUsers(endpoint) ? known.userById : known.depositById).has(near) &&
      canSpell(near);
    return isUsable
      ? fc.constant(near)
      : unknownUuid(known)
          .map(withVersion)
          .filter((id) => isUnused(id) && canSpell(id));
  }
  const { count, at } = entitiesOf(endpoint, levels, known);
  return (isPicked ? fc.constant(pick % count) : fc.nat(count - 1)).map((place) =>
    needsVersion4(endpoint) ? withVersion(at(place)) : at(place),
  );
}

function malformed(
  endpoint: Endpoint,
  levels: Levels,
  text: fc.Arbitrary<string>,
  pick: number | undefined,
): fc.Arbitrary<string | undefined> {
  const { parameter } = endpoints[endpoint];
  const { examples, drawn } = malformationLevels[levels.malformation]!;
  const isEncoded = levels['id spelling'] === 'percent-encoded';
  const base = isEncoded ? text.map((value) => decodeURIComponent(value)) : text;
  const example = fc.tuple(base, pick === undefined ? anyNumber : fc.constant(pick)).map(([id, nth]) => {
    const list: (string | undefined)[] = [];
    for (const one of examples!(parameter, id)) {
      if (list.length === nth) return one;
      list.push(one);
    }
    return list[nth % list.length];
  });
  const query =
    drawn === undefined || pick !== undefined
      ? example
      : fc.oneof(example, drawn(parameter, base) as fc.Arbitrary<string | undefined>);
  return isEncoded ? query.map((asked) => asked && withOneEncoded(asked)) : query;
}

/** Encodes the first character of the value: no malformation depends on it. The value gets no longer than allowed. */
function withOneEncoded(query: string): string {
  const encoded = query.replace(
    /=([0-9a-z])/i,
    (_, character: string) => `=%${character.charCodeAt(0).toString(16)}`,
  );
  const length = encoded.length - encoded.indexOf('=') - 1;
  return length > MAX_LENGTH && length <= MAX_LENGTH + 2 ? encoded.slice(0, MAX_LENGTH - length) : encoded;
}

function presentationsOf(levels: Levels, known: Known, pick?: number): fc.Arbitrary<Presentation> {
  const { key, header } = levels;
  if (key === 'none') return fc.constant({ changes: { credential: { as: 'none' } } });
  const isFirst = key === 'active' && levels['active key'] === 'first';
  // Any key of the caller will do, but repeated lookups must use the same one.
  if (isFirst && header === 'Bearer' && levels.repetition === 'once') return asCaller;
  const ways = headerLevels[header]!.forms;
  const presented =
    key === 'active' && levels['active key'] === 'second'
      ? fc.constantFrom(...known.callerKeys.slice(1).map(tokenOf))
      : drawnTokens(key, known, pick);
  return fc.tuple(presented, anyNumber).map(([token, nth]) => {
    const at = key === 'active' ? (pick ?? nth) : nth;
    return ways[at % ways.length]!(token);
  });
}

function drawnTokens(key: string, known: Known, pick?: number): fc.Arbitrary<Token> {
  const list = tokensOf(key, known);
  if (pick !== undefined) return fc.constant(list[pick % list.length]!);
  // The level `another partner's` of the situation is data of the first other partner.
  const drawn =
    key === "another partner's" ? list.filter((one) => one.key?.partner === list[0]!.key?.partner) : list;
  const listed = fc.constantFrom(...drawn);
  const further = keyLevels[key]!.drawn?.(known);
  return further === undefined ? listed : fc.oneof(listed, further);
}
