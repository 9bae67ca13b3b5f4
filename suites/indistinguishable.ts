import type { Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { manyStrangers } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { spread } from './rule.ts';
import { scenario } from './scenario.ts';
import { lookupOf, type Request } from './request.ts';
import type { ScenarioResult, Scenario, Subject } from './requirement.ts';
import { depends, failed, held, unjudged, type Verdict } from './verdict.ts';

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
}): Scenario {
  return scenario({
    ...spec,
    level: 'recommended',
    reading: 'Where status or value differ, the requirements on the answers themselves speak of it.',
    run: async ({ send }, known) => {
      const unknown = manyStrangers(known, order.length / 2);
      let cases = 0;
      for (const id of spread(hidden(known), MOST_IDS)) {
        let nth = 0;
        const compared = order.map((side) => (side === 'hidden' ? id : unknown[nth++]!));
        // Whatever a cache says the first time, it has said before the comparison.
        const requests = [id, ...unknown, ...compared].map((asked) => lookupOf(endpoint, asked));
        let result = await compareOnce(requests);
        // A difference has to recur.
        if (result.finding.kind === 'failed') result = await compareOnce(requests);
        cases++;
        if (result.finding.kind !== 'held') return { ...result, cases };
      }
      return { finding: held, cases };

      async function compareOnce(requests: readonly Request[]): Promise<ScenarioResult> {
        const replies = await send(...requests);
        const [request, reply] = [requests.at(-order.length)!, replies.at(-order.length)!];
        const trouble = replies.find((one) => one.kind === 'trouble');
        if (trouble !== undefined)
          return { finding: unjudged(trouble.code, trouble.words), request, reply: trouble };
        const answers = (replies as readonly Answer[]).slice(-order.length);
        const side = (name: (typeof order)[number]) => answers.filter((_, at) => order[at] === name);
        // Where status or value differ, one of the two is wrong on its own account.
        const [unknownAnswer] = side('unknown');
        const finding = answers.every((answer) => sameAnswer(unknownAnswer!, answer).kind === 'held')
          ? compare(side('hidden'), side('unknown'))
          : depends('the requirements on the answers themselves');
        return { finding, request, reply };
      }
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
