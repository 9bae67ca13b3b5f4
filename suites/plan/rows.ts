import { findsUsers, type Endpoint } from '../../schemas/endpoints.ts';
import { catalogue, table } from '../requirements/catalogue.ts';
import type { Known } from '../known.ts';
import { choicesOf } from './needs.ts';
import { isLookupRow, type LookupRow, type Levels } from '../rules/requirement.ts';
import { createExamples } from './examples.ts';
import type { Rank } from './factors.ts';
import { factsWith, lookupAt, type Lookup } from './lookup.ts';
import { completed } from './lookup-levels.ts';
import { createChooser } from './chooser.ts';

/** Malformed values matter as much as pairs: each pair is followed by so many examples. */
const EXAMPLES_PER_PAIR = 2;

/** One of so many rows of triples has plain gates: most other rows show no data, and what is rarely wrong takes many. */
const PLAIN_GATES = 4;

/** A row for each required requirement, then every level, then pairs and examples in turn, then triples without end. */
export function* lookupsInOrder(endpoint: Endpoint, known: Known, seed: number): Generator<Lookup> {
  const examples = createExamples(endpoint, known);
  const chooser = createChooser(endpoint, known, seed);
  let draws = 0;
  const make = (levels: Levels, rank: Rank, pick = examples.pickOf(levels)): Lookup => {
    chooser.take(levels);
    const place = pick === undefined ? { draw: draws++ } : { pick };
    return lookupAt(endpoint, levels, place, { known, seed, rank });
  };
  for (const levels of rowsOfRequirements(endpoint, known)) yield make(levels, 'requirement');
  for (let levels = chooser.next(1); levels !== undefined; levels = chooser.next(1))
    yield make(levels, 'level');
  for (let isMore = true; isMore;) {
    const pair = chooser.next(2);
    isMore = pair !== undefined;
    if (pair !== undefined) yield make(pair, 'pair');
    for (let nth = 0; nth < EXAMPLES_PER_PAIR; nth++) {
      const example = examples.next();
      if (example === undefined) break;
      isMore = true;
      yield make(chooser.around(example.levels), 'example', example.pick);
    }
  }
  for (let nth = 1; ; nth++)
    yield make(nth % PLAIN_GATES === 0 ? chooser.around({}) : chooser.any(), 'triple');
}

/**
 * One row for each required requirement, so that a short run judges all of them. A row counts for every requirement
 * that it is about. First the other partner finds its own data, then an own entity is asked for three times.
 */
function rowsOfRequirements(endpoint: Endpoint, known: Known): readonly Levels[] {
  const found: Levels[] = [];
  const covered = new Set<LookupRow>();
  const take = (levels: Partial<Levels>, about?: LookupRow): boolean => {
    const row = completed(endpoint, levels, known);
    if (row === undefined) return false;
    const { rows } = table.coverOf(factsWith(endpoint, row, known)!);
    // A row that had to change the situation may be about something else.
    if (about !== undefined && !rows.includes(about)) return false;
    found.push(row);
    for (const one of rows) if (one.kind !== 'repetition' || row.repetition !== 'once') covered.add(one);
    return true;
  };
  take({
    key: "another partner's",
    situation: findsUsers(endpoint) ? "another partner's" : "another partner's EXECUTED",
  });
  take({ repetition: 'three times' });
  for (const row of catalogue.filter(isLookupRow))
    if (row.level === 'required' && !covered.has(row))
      choicesOf(row).some(([on, levels]) => on === endpoint && take(levels, row));
  return found;
}
