import type { Endpoint } from '../../schemas/endpoints.ts';
import { arrayOf } from '../model/coverage.ts';
import { kept, type CoveringRow } from '../model/covering.ts';
import {
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
  /** The rules that the model holds the answer against. */
  readonly ids: readonly string[];
  readonly origin: Origin;
  /** 0: one that covers a requirement for the first time. 5: an example that no other row happened to draw. */
  readonly strength: CoveringRow['strength'] | 0 | 5;
  readonly depth: CoveringRow['depth'];
  readonly times: number;
  readonly isAlone: boolean;
}

/** Deep rows are sent until the lookups have taken this many requests, times `--cases`. */
const MAX_DEPTH = 1.75;

/** Rows of each endpoint that are taken at a time. */
const ROWS_IN_TURN = 64;

/** The lookups of both endpoints, in the order in which a run sends them: a list for each endpoint. */
export interface Lookups {
  /** The next ones, as long as they have this strength. */
  readonly ofStrength: (strength: Lookup['strength']) => readonly (readonly Lookup[])[];
  /** The rest, some of each endpoint at a time, the deep ones last. */
  readonly inTurn: () => Iterable<readonly (readonly Lookup[])[]>;
}

interface LookupOptions {
  readonly known: Known;
  readonly seed: number;
  /** Lookups of each endpoint at most. */
  readonly cases: number;
}

export function createLookups(options: LookupOptions, rules: readonly Rule[]): Lookups {
  const sources = (['user-status', 'deposit-check'] as const).map((endpoint) => {
    const source = askedLookups(endpoint, options, rules);
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
      for (const deepest of [0, 1, 2])
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

/** The lookups of an endpoint that one of the rules asks for. */
function* askedLookups(
  endpoint: Endpoint,
  { known, seed, cases }: LookupOptions,
  rules: readonly Rule[],
): Generator<Lookup, void> {
  // Random rows never end: nothing may be looked for that no row can be.
  const own = rules.filter((one) => one.id.includes(`/${endpoint}/`) && lackOf(one, known) === undefined);
  let left = own.length === 0 ? 0 : cases;
  for (const one of sharedLookups(endpoint, known, seed)) {
    if (left === 0) return;
    if (!isAsked(one, own)) continue;
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

/** Whether one of the rules covers a lookup. */
function isAsked({ ids, times, endpoint }: Lookup, rules: readonly Rule[]): boolean {
  const isFinding = times > 1 || ids.some((id) => id.startsWith('valid/') || id.startsWith('foreign-ib/'));
  return rules.some(
    ({ id, holds }) =>
      ids.includes(id) ||
      (times > 1 && id === `valid/${endpoint}/repeatable`) ||
      (holds !== undefined && isFinding && id.includes(`/${endpoint}/`)),
  );
}

/** Factors that have examples. */
const gates = ['key', 'header', 'malformation'] as const;

/** Examples of the gates come between the pairs and the triples. */
function* lookupsOf(endpoint: Endpoint, known: Known, seed: number): Generator<Lookup> {
  const plain = plainLevels(endpoint);
  const turns = new Map<string, number>();
  let nth = 0;
  let isDeep = false;
  // What another partner's key finds says that it is that partner's.
  const theirs: Levels = {
    ...plain,
    key: "another partner's",
    situation: endpoint === 'user-status' ? "another partner's" : "another partner's, EXECUTED",
  };
  const single: Lookup[] = [];
  if (isFeasible(endpoint, theirs, known)) single.push(lookup(theirs, 1, { draw: nth++ }));
  for (const { levels, strength, depth } of arrayOf(endpoint, known).rows()) {
    // Where requests are scarce, each requirement has one lookup before any has two.
    if (strength > 1) yield* eachRuleFirst(single.splice(0));
    if (strength >= 3 && !isDeep) {
      isDeep = true;
      yield* examples();
    }
    // Examples and entities take turns; when each has had one, values are drawn.
    const kind = kindOf(levels);
    const pick = kind === undefined ? undefined : turn(kind);
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

  /** What takes turns: the examples of the one gate that is not plain, or without one the entities that fit. */
  function kindOf(levels: Levels): string | undefined {
    const odd = gates.filter((name) => levels[name] !== plain[name]);
    if (odd.length > 1) return undefined;
    const [gate] = odd;
    return gate === undefined ? [levels.situation, levels.data, levels['id version']].join() : levels[gate];
  }

  function turn(kind: string): number {
    const pick = turns.get(kind) ?? 0;
    turns.set(kind, pick + 1);
    return pick;
  }

  /** The examples of each gate, and the own entities, that no row has had, with everything else plain. */
  function* examples(): Generator<Lookup> {
    const ofGates = factors[endpoint].flatMap(({ name, levels }) =>
      levels
        .slice(1)
        .map((level): Levels => ({ ...plain, [name]: level }))
        .filter((row) => gates.some((gate) => gate === name) && isFeasible(endpoint, row, known))
        .map((row) => [row, examplesOf(endpoint, row, known)] as const),
    );
    for (const [row, count] of [...ownEntities(endpoint, known), ...ofGates])
      for (let pick = turn(kindOf(row)!); pick < count; pick = turn(kindOf(row)!))
        yield lookup(row, 5, { pick });
  }
}

/** Those that a requirement is covered by for the first time, as strength 0, and then the others. */
function eachRuleFirst(lookups: readonly Lookup[]): readonly Lookup[] {
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

/** Lookups that were drawn before with the same seed: a plan and its run share them, and so do the runs of a self-test. */
const drawn = new WeakMap<
  Known,
  { readonly seed: number; readonly of: Map<Endpoint, () => Generator<Lookup>> }
>();

function sharedLookups(endpoint: Endpoint, known: Known, seed: number): Generator<Lookup> {
  const before = drawn.get(known);
  const { of } = before?.seed === seed ? before : { of: new Map<Endpoint, () => Generator<Lookup>>() };
  drawn.set(known, { seed, of });
  const lookups = of.get(endpoint) ?? kept(lookupsOf(endpoint, known, seed));
  of.set(endpoint, lookups);
  return lookups();
}
