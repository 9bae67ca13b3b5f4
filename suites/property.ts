import * as fc from 'fast-check';
import { Problem } from '../schemas/problem.ts';
import type { Answer, Trouble } from './answer.ts';
import type { Known } from './known.ts';
import type { Case, Draw, Property, Subject } from './requirement.ts';
import type { Request } from './request.ts';
import { noFixture, noSecondKey, type Verdict } from './verdict.ts';

/** Shrinking stops after so many tries, whatever it has reached. */
const MOST_SHRINK_TRIES = 200;

/** How a property requirement is written down. */
export interface PropertySpec<Input> extends Subject {
  /** What the fixture would have to hold for it, in words; undefined where it holds enough. */
  readonly lacks?: (known: Known) => string | undefined;
  /** Whether it takes an active key of another partner. */
  readonly needsSecondKey?: boolean;
  /** Inputs that are always tried, first: every entity, an example of every class. */
  readonly every?: (known: Known) => readonly Input[];
  /** Where further inputs are drawn from. */
  readonly given?: (known: Known) => fc.Arbitrary<Input>;
  /** How much of --cases is drawn, where an input takes many requests or says little: from 0 to 1. */
  readonly share?: number;
  /** What to send for an input. Pure. */
  readonly ask: (input: Input, known: Known) => readonly Request[];
  /** What must hold of the answers. Pure. */
  readonly holds: (answers: readonly Answer[], input: Input, known: Known) => Verdict;
  readonly onTrouble?: (trouble: Trouble, input: Input) => Verdict;
  readonly atOnce?: boolean;
  readonly once?: (input: Input) => boolean;
  readonly fresh?: boolean;
  readonly provesKey?: boolean;
}

/** Makes a requirement of its specification; the type of its inputs stays inside. */
export function property<Input>(spec: PropertySpec<Input>): Property {
  const {
    lacks,
    needsSecondKey,
    every = () => [],
    given,
    share = 1,
    ask,
    holds,
    onTrouble,
    atOnce,
    once,
    fresh,
    provesKey,
    ...subject
  } = spec;

  const caseOf = (input: Input, known: Known): Case => ({
    input,
    requests: ask(input, known),
    atOnce: atOnce ?? false,
    once: once?.(input) ?? false,
    judge: (answers) => holds(answers, input, known),
    ...(onTrouble === undefined ? {} : { onTrouble: (trouble: Trouble) => onTrouble(trouble, input) }),
  });

  /**
   * Listed inputs and drawn ones are one stream, so that one index and one path serve both.
   * Sampling a tuple of the arbitrary draws what checking a property of it draws.
   */
  const stream = (known: Known, { seed, cases }: Draw) => {
    const examples = spread(every(known), Math.max(cases * 10, 1000)).map((input): [Input] => [input]);
    const arbitrary = given?.(known) ?? fc.constantFrom(...examples.map(([input]) => input));
    const drawn = given === undefined ? 0 : Math.ceil(share * Math.max(cases - examples.length, cases / 4));
    return { arbitrary, options: { seed, examples, numRuns: examples.length + drawn } };
  };

  /** The last draw. */
  let last: { readonly known: Known; readonly draw: Draw; readonly cases: readonly Case[] } | undefined;

  const noInput = (path: string) =>
    new Problem(
      'usage',
      `--replay ${path}: leads to no input of ${subject.id}; are --seed and --cases those of the report?`,
    );

  return {
    ...subject,
    kind: 'property',
    fresh: fresh ?? false,
    provesKey: provesKey ?? false,
    lacks: (known) => {
      if (needsSecondKey === true && known.otherKeys.length === 0) return noSecondKey;
      const missing = lacks?.(known);
      if (missing !== undefined) return noFixture(missing);
      return given === undefined && every(known).length === 0
        ? noFixture('data of the kind that it speaks of')
        : undefined;
    },
    draw: (known, draw) => {
      // What is planned is drawn, and what is tried as well: they are the same.
      if (last?.known === known && last.draw.seed === draw.seed && last.draw.cases === draw.cases)
        return last.cases;
      const { arbitrary, options } = stream(known, draw);
      const cases = fc.sample(fc.tuple(arbitrary), options).map(([input]) => caseOf(input, known));
      last = { known, draw, cases };
      return cases;
    },
    caseOf: (input, known) => caseOf(input as Input, known),
    drawAt: (known, draw, path) => {
      const { arbitrary, options } = stream(known, draw);
      if (Number.parseInt(path, 10) >= options.numRuns) throw noInput(path);
      const [drawn] = fc.sample(fc.tuple(arbitrary), { ...options, path, numRuns: 1 });
      if (drawn === undefined) throw noInput(path);
      return caseOf(drawn[0], known);
    },
    shrink: async (known, draw, index, probe) => {
      const { arbitrary, options } = stream(known, draw);
      let aspect: string | undefined;
      let smallest: Case | undefined;
      let tries = 0;
      const check = fc.asyncProperty(arbitrary, async (input) => {
        if (tries++ > MOST_SHRINK_TRIES) return;
        const candidate = caseOf(input, known);
        const verdict = await probe(candidate);
        if (verdict.kind !== 'failed' || (aspect !== undefined && verdict.aspect !== aspect)) return;
        aspect = verdict.aspect;
        smallest = candidate;
        throw new Error('fails');
      });
      const details = await fc.check(check, { ...options, path: String(index), numRuns: 1 });
      return smallest === undefined || details.counterexamplePath === null
        ? undefined
        : { path: details.counterexamplePath, candidate: smallest };
    },
  };
}

/** At most so many items, evenly spaced over the list. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
