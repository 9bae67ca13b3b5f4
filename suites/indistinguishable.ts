import type { Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer } from './answer.ts';
import { manyStrangers } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { property, spread } from './property.ts';
import { lookupOf } from './request.ts';
import type { Property, Subject } from './requirement.ts';
import { failed, held, type Verdict } from './verdict.ts';

/** Lookups of each kind in one comparison. */
const ROUNDS = 3;

/** A recommended requirement: what is hidden and what does not exist are answered alike. */
export function indistinguishable({
  endpoint,
  hidden,
  ...spec
}: Omit<Subject, 'level'> & {
  readonly endpoint: Endpoint;
  readonly lacks: (known: Known) => string | undefined;
  /** Ids whose existence must not show. */
  readonly hidden: (known: Known) => readonly string[];
}): Property {
  return property<readonly string[]>({
    ...spec,
    level: 'recommended',
    fresh: true,
    every: (known) => trios(spread(hidden(known), 5 * ROUNDS)),
    ask: (ids, known) => {
      const unknown = manyStrangers(known, ROUNDS);
      return Array.from({ length: ROUNDS }, (_, round) => [ids[round % ids.length]!, unknown[round]!])
        .flat()
        .map((id) => lookupOf(endpoint, id));
    },
    holds: (answers) => compare(everyOther(answers, 0), everyOther(answers, 1)),
  });
}

const trios = (ids: readonly string[]) =>
  Array.from({ length: Math.ceil(ids.length / ROUNDS) }, (_, nth) =>
    ids.slice(nth * ROUNDS, (nth + 1) * ROUNDS),
  );

const everyOther = (answers: readonly Answer[], from: 0 | 1) => answers.filter((_, at) => at % 2 === from);

/**
 * Holds where no mark tells the two kinds apart. A mark tells when all unknown ids share it and no
 * hidden one has it. What follows the id, the time or the number of the request varies among the
 * unknown ids or, as the lookups alternate, shows up on both sides: it tells nothing.
 */
export function compare(hidden: readonly Answer[], unknown: readonly Answer[]): Verdict {
  const names = new Set([...hidden, ...unknown].flatMap((answer) => Object.keys(answer.headers)));
  const marks: readonly (readonly [string, (answer: Answer) => string])[] = [
    ['status', (answer) => String(answer.status)],
    ['body', (answer) => answer.text],
    ...[...names].flatMap((name) => [
      [
        `presence of the header ${name}`,
        (answer: Answer) => (header(answer, name) === undefined ? 'absent' : 'present'),
      ] as const,
      [`header ${name}`, (answer: Answer) => header(answer, name) ?? '(none)'] as const,
    ]),
  ];
  for (const [what, mark] of marks) {
    const ofUnknown = new Set(unknown.map(mark));
    const [shared] = ofUnknown;
    if (ofUnknown.size === 1 && hidden.every((answer) => mark(answer) !== shared)) {
      const ofHidden = mark(hidden[0]!);
      return failed(
        what,
        `as for an unknown id: ${what} ${shared}`,
        what === 'body' ? summary(hidden[0]!) : `${what} ${ofHidden}`,
      );
    }
  }
  return held;
}
