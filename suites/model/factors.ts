import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import {
  forms,
  isIssued,
  nearMiss,
  nearMisses,
  needsIssued,
  unissuedKeys,
  tokenOf,
  unknownToken,
  type FormName,
  type Presentation,
  type Token,
} from '../inputs/credentials.ts';
import { malformations } from '../inputs/malformations.ts';
import {
  hasMixableLetters,
  neighbours,
  percentEncoded,
  unknownUuid,
  withLetterCase,
} from '../inputs/uuids.ts';
import type { FixtureDeposit, Known } from '../known.ts';
import { lookup, type Request } from '../request.ts';
import { readTimestamp } from '../timestamp.ts';
import { classifyUuid } from './uuid.ts';

export type FactorName =
  | 'key'
  | 'header'
  | 'active key'
  | 'situation'
  | 'data'
  | 'id version'
  | 'id spelling'
  | 'malformation'
  | 'query'
  | 'repetition'
  | 'load';

export interface Factor {
  readonly name: FactorName;
  /** The first one is plain. */
  readonly levels: readonly string[];
  /** Whether a level that is not plain decides the answer and so masks the other factors. */
  readonly isGate: boolean;
  /** Groups of levels that take turns when combined with other factors. Without them, each level is combined. */
  readonly classes?: readonly (readonly string[])[];
  /** The same for combinations with other gates. */
  readonly coarseClasses?: readonly (readonly string[])[];
  /** Levels of a gate that may let a caller in. */
  readonly open?: readonly string[];
  /** Levels that represent all others if a gate masks the factor. */
  readonly coarse?: readonly string[];
  /** Levels that come last if a gate may let a caller in, by the levels of the gates. */
  readonly rare?: (gates: Levels) => readonly string[];
  /** Whether levels other than the plain one take more requests. */
  readonly isCostly?: boolean;
  /** Whether the first request of every level also covers the plain level. */
  readonly includesPlain?: boolean;
}

/** A level of each factor. */
export type Levels = Readonly<Record<FactorName, string>>;

/** The levels and the path of a lookup of the covering array. */
export interface Origin {
  readonly levels: Levels;
  readonly path: string;
}

/** The keys of each level. */
const keys: Readonly<Record<string, (known: Known) => readonly Token[]>> = {
  active: ({ callerKeys }) => callerKeys.slice(0, 1).map(tokenOf),
  "another partner's": ({ otherKeys }) => otherKeys.map(tokenOf),
  revoked: ({ revokedKeys }) => revokedKeys.map(tokenOf),
  expired: ({ expiredKeys }) => expiredKeys.map(tokenOf),
  'non-Partner': ({ nonPartnerKeys }) => nonPartnerKeys.map(tokenOf),
  unknown: unissuedKeys,
  'near miss': nearMisses,
  none: () => [],
};

const tokens = new WeakMap<Known, Map<string, readonly Token[]>>();

function keysOf(level: string, known: Known): readonly Token[] {
  const made = tokens.get(known) ?? new Map<string, readonly Token[]>();
  tokens.set(known, made);
  const list = made.get(level) ?? keys[level]!(known);
  made.set(level, list);
  return list;
}

const versions = ['4', '1', '2', '3', '5', '6', '7', '8'] as const;

const spellings = ['lower case', 'upper case', 'mixed case', 'percent-encoded'] as const;

const extras = ['verbose=1', 'page=1', 'format=json', '_=1', 'x=', 'y'] as const;

const owners = ['own', "another partner's", "third partner's"] as const;

/** The factors of each endpoint. To add a level, add an entry here. */
export const factors: Readonly<Record<Endpoint, readonly Factor[]>> = {
  'user-status': table({
    situation: [...owners, 'no partner', 'unknown'],
    coarseSituation: ['own', "another partner's", 'unknown'],
    data: ['milliseconds', 'whole seconds'],
    isVersionGate: true,
  }),
  'deposit-check': table({
    situation: [
      ...owners.flatMap((owner) => ['EXECUTED', 'pending', 'failed'].map((state) => `${owner}, ${state}`)),
      'unknown',
    ],
    coarseSituation: ['own, EXECUTED', "another partner's, EXECUTED", 'unknown'],
    data: ['amount with cents', 'whole amount', 'amount below 1', 'amount of 10,000 or more'],
    isVersionGate: false,
  }),
};

function table({
  situation,
  coarseSituation,
  data,
  isVersionGate,
}: {
  readonly situation: readonly string[];
  readonly coarseSituation: readonly string[];
  readonly data: readonly string[];
  readonly isVersionGate: boolean;
}): readonly Factor[] {
  const header = Object.keys(forms);
  const kinds = Object.keys(malformations);
  const [alternative, open, hostile] = [
    'braces or parentheses',
    'the nil or the max UUID',
    'broken percent-encoding',
  ].map((name) => kinds.indexOf(name)) as [number, number, number];
  const classes = [
    kinds.slice(0, 2),
    kinds.slice(2, alternative),
    kinds.slice(alternative, open),
    kinds.slice(open, hostile),
  ];
  return [
    {
      name: 'key',
      levels: Object.keys(keys),
      isGate: true,
      open: ["another partner's"],
    },
    {
      name: 'header',
      levels: header,
      isGate: true,
      open: header.slice(1, 4),
      coarseClasses: [...header.slice(1, 4).map((name) => [name]), header.slice(4, 8), header.slice(8)],
    },
    {
      name: 'malformation',
      levels: ['none', ...kinds],
      isGate: true,
      classes: [...classes, kinds.slice(hostile)],
      coarseClasses: classes,
    },
    { name: 'id version', levels: versions, isGate: isVersionGate, coarseClasses: [versions.slice(1)] },
    {
      name: 'situation',
      levels: situation,
      isGate: false,
      coarse: coarseSituation,
      // Their owner alone hides these, whatever their state.
      rare: ({ key }) => {
        const visible = key === "another partner's" ? key : 'own';
        return situation.filter((level) => /, (?:pending|failed)$/.test(level) && !level.startsWith(visible));
      },
    },
    { name: 'id spelling', levels: spellings, isGate: false },
    { name: 'data', levels: data, isGate: false },
    { name: 'active key', levels: ['first', 'second'], isGate: false },
    { name: 'query', levels: ['alone', 'extra parameter before', 'extra parameter after'], isGate: false },
    {
      name: 'repetition',
      levels: ['once', 'three times'],
      isGate: false,
      isCostly: true,
      includesPlain: true,
    },
    {
      name: 'load',
      levels: ['with others', 'alone'],
      isGate: false,
      coarse: ['with others'],
      isCostly: true,
    },
  ];
}

/** Maximum number of entities of the partner that are each looked up. */
const MAX_ENTITIES = 100;

/** A prime step between entities, so that a short run samples the whole list. */
const STRIDE = 7919;

/** The plain level of each factor. */
export const plainLevels = (endpoint: Endpoint): Levels =>
  Object.fromEntries(factors[endpoint].map(({ name, levels }) => [name, levels[0]!])) as Levels;

interface Pool {
  readonly situation: string;
  readonly version: string;
  readonly data: string;
  readonly isLettered: boolean;
  readonly ids: readonly string[];
}

const pools = new WeakMap<Known, Partial<Record<Endpoint, readonly Pool[]>>>();

function poolsOf(endpoint: Endpoint, known: Known): readonly Pool[] {
  const made = pools.get(known) ?? {};
  pools.set(known, made);
  return (made[endpoint] ??= endpoint === 'user-status' ? userPools(known) : depositPools(known));
}

function userPools(known: Known): readonly Pool[] {
  const [plain, whole] = factors['user-status'].find(({ name }) => name === 'data')!.levels as [
    string,
    string,
  ];
  const entries = [...known.userById.values()].map((user) => ({
    id: user.user_id,
    situation: ownerOf(user.partner, known),
    data: /^0*$/.test(readTimestamp(user.date_joined).instant?.fraction ?? '') ? whole : plain,
  }));
  return grouped(entries);
}

function depositPools(known: Known): readonly Pool[] {
  // Deposits that become EXECUTED have their own requirement. They count as pending only if there are no others.
  const isStable = (deposit: FixtureDeposit) =>
    deposit.state !== 'pending' ||
    deposit.becomes === undefined ||
    (known.pending.length === 0 && (deposit.becomes.afterPolls ?? 2) > 1);
  const entries = [...known.depositById.values()].filter(isStable).flatMap((deposit) => {
    const user = known.userById.get(deposit.user_id.toLowerCase());
    if (user === undefined) return [];
    const owner = ownerOf(user.partner, known);
    return {
      id: deposit.reference_id,
      situation: `${owner === 'no partner' ? "third partner's" : owner}, ${deposit.state}`,
      data: dataOf(deposit),
    };
  });
  return grouped(entries);
}

function dataOf(deposit: FixtureDeposit): string {
  if (deposit.state !== 'EXECUTED') return 'amount with cents';
  const { amountInUsd } = deposit;
  if (amountInUsd >= 10_000) return 'amount of 10,000 or more';
  if (amountInUsd < 1) return 'amount below 1';
  return Number.isInteger(amountInUsd) ? 'whole amount' : 'amount with cents';
}

/** "another partner" is the first other one with an active key. */
function ownerOf(partner: string | null, { partner: caller, otherKeys }: Known): string {
  if (partner === null) return 'no partner';
  if (partner === caller) return 'own';
  return otherKeys.length === 0 || partner === otherKeys[0]!.partner
    ? "another partner's"
    : "third partner's";
}

function grouped(
  entries: readonly { readonly id: string; readonly situation: string; readonly data: string }[],
): readonly Pool[] {
  const groups = new Map<string, Pool & { readonly ids: string[] }>();
  for (const { id, situation, data } of entries) {
    const kind = classifyUuid(id);
    if (kind !== 'v4' && kind !== 'other-version') continue;
    const version = id[14]!;
    const isLettered = hasMixableLetters(id);
    const name = [situation, version, data, isLettered].join();
    const group = groups.get(name) ?? { situation, version, data, isLettered, ids: [] };
    group.ids.push(id.toLowerCase());
    groups.set(name, group);
  }
  return [...groups.values()];
}

const needsLetters = (spelling: string | undefined) => spelling === 'upper case' || spelling === 'mixed case';

/** Whether a lookup with these levels exists for this fixture. */
export function isFeasible(endpoint: Endpoint, levels: Partial<Levels>, known: Known): boolean {
  const { key, header, situation, data } = levels;
  if (levels['active key'] === 'second' && known.callerKeys.length < 2) return false;
  if (key !== undefined && key !== 'none' && keysOf(key, known).length === 0) return false;
  if (header !== undefined && header !== 'Bearer' && key !== undefined) {
    if (key === 'none') return false;
    const token = keysOf(key, known)[0]!;
    if (needsIssued.has(header as FormName) && !isIssued(token)) return false;
  }
  const plainData = factors[endpoint].find(({ name }) => name === 'data')!.levels[0]!;
  if (situation === 'unknown') return data === undefined || data === plainData;
  if (situation === undefined && (data === undefined || data === plainData)) return true;
  return poolsOf(endpoint, known).some((pool) => fits(endpoint, pool, levels));
}

const fits = (endpoint: Endpoint, pool: Pool, levels: Partial<Levels>) =>
  (levels.situation === undefined || pool.situation === levels.situation) &&
  (levels.data === undefined || pool.data === levels.data) &&
  (levels['id version'] === undefined ||
    endpoint === 'user-status' ||
    pool.version === levels['id version']) &&
  (!needsLetters(levels['id spelling']) || pool.isLettered);

/** A text that determines which levels are feasible. */
export const feasibilityKey = (endpoint: Endpoint, known: Known): string =>
  JSON.stringify([
    Object.keys(keys).map((level) => keysOf(level, known).length > 0),
    known.callerKeys.length > 1,
    poolsOf(endpoint, known).map(({ ids: _, ...pool }) => pool),
  ]);

/** Levels that the fixture cannot supply, such as `key: expired`. */
export const missingLevels = (endpoint: Endpoint, known: Known): readonly string[] =>
  factors[endpoint].flatMap(({ name, levels }) =>
    levels
      .filter((level) => !isFeasible(endpoint, { [name]: level }, known))
      .map((level) => `${name}: ${level}`),
  );

/** Infeasible pairs of levels, such as `key: none` with `header: bearer or BEARER`. */
export const forbiddenPairs = (endpoint: Endpoint, known: Known): readonly (readonly [string, string])[] =>
  factors[endpoint].flatMap((one, at) =>
    factors[endpoint].slice(at + 1).flatMap((other) =>
      one.levels.flatMap((level): readonly (readonly [string, string])[] => {
        const levels = other.levels.filter(
          (second) =>
            isFeasible(endpoint, { [one.name]: level }, known) &&
            isFeasible(endpoint, { [other.name]: second }, known) &&
            !isFeasible(endpoint, { [one.name]: level, [other.name]: second }, known),
        );
        return levels.length === 0
          ? []
          : [[`${one.name}: ${level}`, `${other.name}: ${levels.join(' or ')}`]];
      }),
    ),
  );

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
  const text = fc
    .tuple(idsOf(endpoint, levels, known, pick), fc.array(fc.boolean(), { minLength: 1, maxLength: 32 }))
    .map(([id, flags]) => spelled(id, levels['id spelling'], flags));
  const query =
    levels.malformation === 'none'
      ? text.map((value): string | undefined => `${parameter}=${value}`)
      : malformed(parameter, levels, text, pick);
  return fc
    .tuple(query, presentationsOf(levels, known, pick), fc.constantFrom(...extras))
    .map(([asked, { changes, query: further }, extra]) => {
      const parts = [
        levels.query === 'extra parameter before' ? extra : undefined,
        asked,
        levels.query === 'extra parameter after' ? extra : undefined,
        further,
      ].filter((part) => part !== undefined);
      return lookup(endpoint, parts.length === 0 ? undefined : parts.join('&'), changes);
    });
}

/** The entities that the partner may see: rows that find them, each with a number of entities. */
export function ownEntities(endpoint: Endpoint, known: Known): readonly (readonly [Levels, number])[] {
  const plain = plainLevels(endpoint);
  const rows = poolsOf(endpoint, known)
    .filter(({ situation }) => situation === plain.situation)
    .map(({ version, data }): Levels => ({ ...plain, data, 'id version': version }));
  const different = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  const most = Math.ceil(MAX_ENTITIES / Math.max(1, different.length));
  return different.map((row) => [row, Math.min(most, entitiesOf(endpoint, row, known).count)] as const);
}

function entitiesOf(endpoint: Endpoint, levels: Levels, known: Known) {
  const fitting = poolsOf(endpoint, known).filter((pool) => fits(endpoint, pool, levels));
  return {
    count: fitting.reduce((sum, { ids }) => sum + ids.length, 0),
    at: (place: number): string => {
      let left = place;
      for (const { ids } of fitting) {
        if (left < ids.length) return ids[left]!;
        left -= ids.length;
      }
      throw new RangeError(`no entity ${place}`);
    },
  };
}

/** Gates with a list of examples for each level that is not plain. */
export const exampleGates = ['key', 'header', 'malformation'] as const;

/** Number of unknown ids that are close to known ones, for servers that compare only a part of an id. */
const NEIGHBOURS = 3;

/** Number of examples of the one gate that is not plain; without one, of matching entities. */
export function examplesOf(endpoint: Endpoint, levels: Levels, known: Known): number {
  if (isPlainButForEntity(endpoint, levels))
    return levels.situation === 'unknown' ? NEIGHBOURS : entitiesOf(endpoint, levels, known).count;
  if (levels.malformation !== 'none')
    return malformations[levels.malformation]!.examples('x', '0badc0de-0000-4000-8000-000000000000').length;
  if (levels.header !== 'Bearer') return forms[levels.header as FormName].length;
  return levels.key === 'none' ? 1 : keysOf(levels.key, known).length;
}

function idsOf(endpoint: Endpoint, levels: Levels, known: Known, pick?: number): fc.Arbitrary<string> {
  const { situation, 'id version': version } = levels;
  const withVersion = (id: string) => id.slice(0, 14) + version + id.slice(15);
  const isPicked = pick !== undefined && isPlainButForEntity(endpoint, levels);
  if (situation === 'unknown') {
    const isUnknown = (id: string) => !known.userById.has(id) && !known.depositById.has(id);
    const near = isPicked ? neighbours(endpoint, known, version)[pick] : undefined;
    const isUsable =
      near !== undefined &&
      !(endpoint === 'user-status' ? known.userById : known.depositById).has(near) &&
      (!needsLetters(levels['id spelling']) || hasMixableLetters(near));
    return isUsable ? fc.constant(near) : unknownUuid(known).map(withVersion).filter(isUnknown);
  }
  const { count, at } = entitiesOf(endpoint, levels, known);
  return (isPicked ? fc.constant((pick * STRIDE) % count) : fc.nat(count - 1)).map((place) =>
    endpoint === 'user-status' ? withVersion(at(place)) : at(place),
  );
}

const isPlainButForEntity = (endpoint: Endpoint, levels: Levels) =>
  factors[endpoint].every(({ name, isGate, levels: [plain] }) => !isGate || levels[name] === plain);

function spelled(id: string, spelling: string, flags: readonly boolean[]): string {
  switch (spelling) {
    case 'upper case':
      return id.toUpperCase();
    case 'mixed case': {
      const text = withLetterCase(id, flags);
      return [id.toLowerCase(), id.toUpperCase()].includes(text) ? withLetterCase(id, [true, false]) : text;
    }
    case 'percent-encoded':
      return percentEncoded(id, flags.includes(true) ? flags : [true]);
    default:
      return id;
  }
}

function malformed(
  parameter: string,
  levels: Levels,
  text: fc.Arbitrary<string>,
  pick: number | undefined,
): fc.Arbitrary<string | undefined> {
  const { examples, drawn } = malformations[levels.malformation]!;
  const isEncoded = levels['id spelling'] === 'percent-encoded';
  const base = isEncoded ? text.map((value) => decodeURIComponent(value)) : text;
  const example = fc.tuple(base, pick === undefined ? fc.nat(1000) : fc.constant(pick)).map(([id, nth]) => {
    const list = examples(parameter, id);
    return list[nth % list.length];
  });
  const query =
    drawn === undefined || pick !== undefined
      ? example
      : fc.oneof(example, drawn(parameter, base) as fc.Arbitrary<string | undefined>);
  // Only the first character is encoded: no malformation depends on it.
  return isEncoded
    ? query.map((asked) =>
        asked?.replace(/=([0-9a-z])/i, (_, character: string) => `=%${character.charCodeAt(0).toString(16)}`),
      )
    : query;
}

function presentationsOf(levels: Levels, known: Known, pick?: number): fc.Arbitrary<Presentation> {
  const { key, header } = levels;
  if (key === 'none') return fc.constant({ changes: { credential: { as: 'none' } } });
  const isFirst = key === 'active' && levels['active key'] === 'first';
  // Any key of the caller will do, but repeated lookups must use the same one.
  if (isFirst && header === 'Bearer' && levels.repetition === 'once') return fc.constant({ changes: {} });
  const ways = forms[header as FormName];
  const presented =
    key === 'active' && levels['active key'] === 'second'
      ? fc.constantFrom(...known.callerKeys.slice(1).map(tokenOf))
      : tokensOf(key, known, pick);
  return fc.tuple(presented, fc.nat(1000)).map(([token, nth]) => {
    const at = key === 'active' ? (pick ?? nth) : nth;
    return ways[at % ways.length]!(token);
  });
}

function tokensOf(key: string, known: Known, pick?: number): fc.Arbitrary<Token> {
  const list = keysOf(key, known);
  if (pick !== undefined) return fc.constant(list[pick % list.length]!);
  // The level `another partner's` of the situation is data of the first other partner.
  const drawn = list.filter(
    (token) => key !== "another partner's" || token.key?.partner === list[0]!.key?.partner,
  );
  const listed = fc.constantFrom(...drawn);
  if (key === 'unknown') return fc.oneof(listed, unknownToken(known));
  return key === 'near miss' ? fc.oneof(listed, nearMiss(known)) : listed;
}
