import type { Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { manyStrangers } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { property, spread } from './property.ts';
import { lookupOf } from './request.ts';
import type { Property, Subject } from './requirement.ts';
import { depends, failed, held, type Verdict } from './verdict.ts';

/** The order of the lookups in one comparison: neither side comes first throughout, nor every other time. */
const order = ['hidden', 'unknown', 'unknown', 'hidden', 'hidden', 'unknown', 'unknown', 'hidden'] as const;

/** Hidden ids that are compared: each takes 13 lookups, most of which count at the limiter. */
const MOST_IDS = 4;

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
  return property<string>({
    ...spec,
    level: 'recommended',
    reading: 'Where status or value differ, the requirements on the answers themselves speak of it.',
    fresh: true,
    every: (known) => spread(hidden(known), MOST_IDS),
    ask: (id, known) => {
      const unknown = manyStrangers(known, order.length / 2);
      let nth = 0;
      const compared = order.map((side) => (side === 'hidden' ? id : unknown[nth++]!));
      // Whatever a cache says the first time, it has said before the comparison.
      return [id, ...unknown, ...compared].map((asked) => lookupOf(endpoint, asked));
    },
    holds: (replies) => {
      const answers = replies.slice(-order.length);
      const side = (name: (typeof order)[number]) => answers.filter((_, at) => order[at] === name);
      // Where status or value differ, one of the two is wrong on its own account.
      const [unknown] = side('unknown');
      return answers.every((answer) => sameAnswer(unknown!, answer).kind === 'held')
        ? compare(side('hidden'), side('unknown'))
        : depends('the requirements on the answers themselves');
    },
  });
}

/**
 * Holds where no mark tells the two kinds apart. A mark tells when all unknown ids share it and no
 * hidden one has it. What follows the id, the time, the number of the request or the machine behind
 * a load balancer varies among the unknown ids or shows up on both sides: it tells nothing.
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
