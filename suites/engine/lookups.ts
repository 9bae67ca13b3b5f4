import type { Endpoint } from '../../schemas/endpoints.ts';
import { arrayOf } from '../model/coverage.ts';
import { plainest, repeatable, type CoveringRow } from '../model/covering.ts';
import {
  exampleGates,
  examplesOf,
  factors,
  isFeasible,
  ownEntities,
  plainLevels,
  type Levels,
  type Origin,
} from '../model/factors.ts';
import type { Known } from '../known.ts';
import { expectedOf } from '../model/model.ts';
import { pathOf, requestAt } from '../model/path.ts';
import { lackOf } from '../needs.ts';
import type { Request } from '../request.ts';
import type { Rule } from '../requirement.ts';

/** A lookup that a run sends. */
export interface Lookup {
  readonly endpoint: Endpoint;
  readonly request: Request;
  /** Rules that the model checks the answer against. */
  readonly ids: readonly string[];
  readonly origin: Origin;
  /** 0: the first lookup that covers a requirement. 5: an example that no other row drew. */
  readonly strength: CoveringRow['strength'] | 0 | 5;
  readonly depth: CoveringRow['depth'];
  readonly times: number;
  readonly isAlone: boolean;
}

/** Deep rows are sent until the lookups took this many requests, times `--cases`. */
const MAX_DEPTH = 1.75;

const ROWS_IN_TURN = 64;

/** The lookups of both endpoints, one list each, in the order in which a run sends them. */
export interface Lookups {
  readonly ofStrength: (strength: Lookup['strength']) => readonly (readonly Lookup[])[];
  /** The other lookups, in batches of both endpoints; deep rows come last. */
  readonly inTurn: () => Iterable<readonly (readonly Lookup[])[]>;
}

interface LookupOptions {
  readonly known: Known;
  readonly seed: number;
  readonly cases: number;
}

export function createLookups(options: LookupOptions, rules: readonly Rule[]): Lookups {
  const sources = (['user-status', 'deposit-check'] as const).map((endpoint) => {
    const source = coveredLookups(endpoint, options, rules);
    return { source, next: source.next() };
  });
  let requests = 0;
  const take = (isWanted: (lookup: Lookup) => boolean, most = Number.POSITIVE_INFINITY) =>
    sources.map((one) => {
      const list: Lookup[] = [];
      for (; list.length < most && one.next.done !== true; one.next = one.source.next()) {
        if (!isWanted(one.next.value)) break;
        list.push(one.next.value);
        requests += one.next.value.times;
      }
      return list;
    });
  return {
    ofStrength: (strength) => take((one) => one.strength === strength),
    *inTurn() {
      for (const deepest of [0, 1, 2, 3])
        for (;;) {
          const isWanted = ({ depth }: Lookup) =>
            depth <= deepest && (depth === 0 || requests < MAX_DEPTH * options.cases);
          const lists = take(isWanted, ROWS_IN_TURN);
          if (lists.every((list) => list.length === 0)) break;
          yield lists;
        }
    },
  };
}

/** The lookups of an endpoint that some rule covers. */
function* coveredLookups(
  endpoint: Endpoint,
  { known, seed, cases }: LookupOptions,
  rules: readonly Rule[],
): Generator<Lookup, void> {
  const own = rules.filter((one) => one.id.includes(`/${endpoint}/`) && lackOf(one, known) === undefined);
  let left = own.length === 0 ? 0 : cases;
  for (const one of cachedLookups(endpoint, known, seed)) {
    // Random rows never end, even if they cover nothing.
    if (left === 0 || (left === cases && one.strength === 4)) return;
    if (!isCovered(one, own)) continue;
    left--;
    yield one;
  }
}

function idsOf(request: Request, known: Known): readonly string[] {
  const expected = expectedOf(known, request);
  if (expected === undefined) return [];
  const { correct, spelling, scope, advised, hostile } = expected;
  return [...correct.map(({ id }) => id), spelling, scope, advised?.id, hostile?.id].filter(
    (id) => id !== undefined,
  );
}

function isCovered({ ids, times, endpoint }: Lookup, rules: readonly Rule[]): boolean {
  const isFinding = times > 1 || ids.some((id) => id.startsWith('valid/') || id.startsWith('foreign-ib/'));
  return rules.some(
    ({ id, holds }) =>
      ids.includes(id) ||
      (times > 1 && id === `valid/${endpoint}/repeatable`) ||
      (holds !== undefined && isFinding && id.includes(`/${endpoint}/`)),
  );
}

/** All lookups of an endpoint. Examples of the gates come between pairs and triples. */
function* lookupsOf(endpoint: Endpoint, known: Known, seed: number): Generator<Lookup> {
  const plain = plainLevels(endpoint);
  const indexes = new Map<string, number>();
  let nth = 0;
  let isDeep = false;
  // Shows early that the other partner's key finds its own data.
  const otherPartner = plainest(
    {
      ...plain,
      key: "another partner's",
      situation: endpoint === 'user-status' ? "another partner's" : "another partner's, EXECUTED",
    },
    factors[endpoint].filter(({ name }) => name === 'data' || name === 'id version'),
    (levels) => isFeasible(endpoint, levels, known),
  );
  const single: Lookup[] = [];
  if (otherPartner !== undefined) single.push(lookup(otherPartner, 1, { draw: nth++ }));
  for (const { levels, strength, depth } of arrayOf(endpoint, known).rows()) {
    // With a small budget, each requirement gets one lookup before any gets two.
    if (strength > 1) yield* newRulesFirst(single.splice(0));
    if (strength >= 3 && !isDeep) {
      isDeep = true;
      yield* examples();
    }
    // First each example or entity once, then random draws.
    const kind = kindOf(levels);
    const pick = kind === undefined ? undefined : nextIndex(kind);
    const at = pick === undefined || pick >= examplesOf(endpoint, levels, known) ? { draw: nth++ } : { pick };
    const next = lookup(levels, strength, at, depth);
    if (strength > 1) yield next;
    else single.push(next);
  }

  function lookup(
    levels: Levels,
    strength: Lookup['strength'],
    at: { readonly draw?: number; readonly pick?: number },
    depth: Lookup['depth'] = 0,
  ): Lookup {
    const path = pathOf(endpoint, levels, at);
    const request = requestAt(endpoint, levels, known, seed, at);
    const times = levels.repetition === 'once' ? 1 : 3;
    const isAlone = levels.load === 'alone';
    const ids = idsOf(request, known);
    return { endpoint, request, ids, origin: { levels, path }, strength, depth, times, isAlone };
  }

  /** What to enumerate: examples of the one gate that is not plain, or else matching entities. */
  function kindOf(levels: Levels): string | undefined {
    const odd = exampleGates.filter((name) => levels[name] !== plain[name]);
    if (odd.length > 1) return undefined;
    const [gate] = odd;
    return gate === undefined ? [levels.situation, levels.data, levels['id version']].join() : levels[gate];
  }

  function nextIndex(kind: string): number {
    const pick = indexes.get(kind) ?? 0;
    indexes.set(kind, pick + 1);
    return pick;
  }

  /** Own entities and examples of gates that no row used, with all other factors plain, or as a fixture allows. */
  function* examples(): Generator<Lookup> {
    const entities = ownEntities(endpoint, known);
    const bases: readonly Levels[] = [
      plain,
      ...entities.map(([row]) => row),
      { ...plain, situation: 'unknown' },
    ];
    const ofGates = factors[endpoint]
      .filter(({ name }) => exampleGates.some((gate) => gate === name))
      .flatMap(({ name, levels }) =>
        levels.slice(1).flatMap((level) => {
          const row = bases
            .map((base): Levels => ({ ...base, [name]: level }))
            .find((one) => isFeasible(endpoint, one, known));
          return row === undefined ? [] : [[row, examplesOf(endpoint, row, known)] as const];
        }),
      );
    for (const [row, count] of [...entities, ...ofGates])
      for (let pick = nextIndex(kindOf(row)!); pick < count; pick = nextIndex(kindOf(row)!))
        yield lookup(row, 5, { pick });
  }
}

/** First the lookups that cover a requirement for the first time, as strength 0, then the others. */
function newRulesFirst(lookups: readonly Lookup[]): readonly Lookup[] {
  const covered = new Set<string>();
  const isNew = ({ ids }: Lookup) => {
    const before = covered.size;
    for (const id of ids) covered.add(id);
    return covered.size > before;
  };
  const first = new Set(lookups.filter(isNew));
  return [
    ...[...first].map((one): Lookup => ({ ...one, strength: 0 })),
    ...lookups.filter((one) => !first.has(one)),
  ];
}

/** Lookups already drawn with this seed: shared by a plan and its run, and by the runs of a self-test. */
const cache = new WeakMap<
  Known,
  { readonly seed: number; readonly of: Map<Endpoint, () => Generator<Lookup>> }
>();

function cachedLookups(endpoint: Endpoint, known: Known, seed: number): Generator<Lookup> {
  const before = cache.get(known);
  const { of } = before?.seed === seed ? before : { of: new Map<Endpoint, () => Generator<Lookup>>() };
  cache.set(known, { seed, of });
  const lookups = of.get(endpoint) ?? repeatable(lookupsOf(endpoint, known, seed));
  of.set(endpoint, lookups);
  return lookups();
}
