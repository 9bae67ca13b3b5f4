import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { completeFacts, plainFacts, type Facts, type RawFacts } from '../catalogue/facts.ts';
import { factors, plainLevels, type Factor, type FactorName, type Levels } from './factors.ts';
import type { Level } from './levels.ts';

/** Factors that decide the answer, in the order in which one overrules another. */
const order: readonly FactorName[] = [
  'key',
  'header',
  'id version',
  'situation',
  'id spelling',
  'query',
  'malformation',
];

const deciding = perEndpoint((endpoint) =>
  order.map((name) => factors[endpoint].find((one) => one.name === name)!),
);

/** The facts of lookups with these levels; the rest is plain. A hostile query may hold a valid id besides. */
export function factsOfLevels(endpoint: Endpoint, levels: Partial<Levels>): Facts {
  const raw = plainFacts(endpoint);
  for (const { name, levels: all } of deciding[endpoint])
    Object.assign(raw, all[levels[name] ?? plainLevels(endpoint)[name]]?.facts?.(raw));
  return completeFacts(raw);
}

/** Levels that decide the answer, at most two of them not plain: a lookup of each kind that a requirement needs. */
export function* fewLevels(endpoint: Endpoint): Generator<Partial<Levels>> {
  // First the situation, so that a requirement about it gets a lookup with the plain key.
  const list = deciding[endpoint].toSorted(
    (a, b) => Number(b.name === 'situation') - Number(a.name === 'situation'),
  );
  const odd = list.flatMap((factor) =>
    oddLevels(factor, endpoint).map((level) => [factor.name, level] as const),
  );
  yield {};
  for (const [name, level] of odd) yield { [name]: level };
  for (const [at, [name, level]] of odd.entries())
    for (const [other, second] of odd.slice(at + 1))
      if (other !== name) yield { [name]: level, [other]: second };
}

/** The levels that are not plain. Of those that need the same and make the same of a lookup, the first is enough. */
function oddLevels({ name, names, levels }: Factor, endpoint: Endpoint): readonly string[] {
  const raw = plainFacts(endpoint);
  const kindOf = (level: string) => JSON.stringify([levels[level]!.facts?.(raw), levels[level]!.need]);
  const odd = names.slice(1);
  // What another partner's key sees matters too.
  if (name === 'situation') return odd;
  const kinds = odd.map(kindOf);
  return odd.filter((level, at) => kinds.indexOf(kindOf(level)) === at);
}

/** One of each kind of lookup that levels can make, and of each that only a fixture or a value makes. */
export function everyKind(endpoint: Endpoint): readonly Facts[] {
  const kinds = new Map<string, Facts>();
  const note = (raw: RawFacts) => {
    const facts = completeFacts(raw);
    kinds.set(facts.kind, facts);
  };
  const extend = (raw: RawFacts, at: number) => {
    const factor = deciding[endpoint][at];
    if (factor !== undefined)
      for (const { facts } of different(factor, raw)) extend({ ...raw, ...facts?.(raw) }, at + 1);
    else {
      note(raw);
      if (raw.entity === 'pending') note({ ...raw, isBecoming: true });
      if (raw.parameter === 'hostile') note({ ...raw, isOpen: true });
    }
  };
  extend(plainFacts(endpoint), 0);
  return [...kinds.values()];
}

/** The levels of a factor that differ in what they make of a lookup. */
function different({ names, levels }: Factor, raw: RawFacts): readonly Level[] {
  const seen = new Map(
    names.map((name) => [JSON.stringify(levels[name]!.facts?.(raw) ?? {}), levels[name]!]),
  );
  return [...seen.values()];
}
