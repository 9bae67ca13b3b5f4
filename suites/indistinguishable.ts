import type { Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { unknownIds, evenSample } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { lookupOf } from './request.ts';
import { observing, scenario, type Scenario, type ScenarioResult, type Metadata } from './requirement.ts';
import { failed, pass, observed, inconclusive, type Verdict } from './verdict.ts';

/** Pairs of lookups in one comparison. The order alternates, so that it cannot cause a difference. */
const order = [
  ['hidden', 'unknown'],
  ['unknown', 'hidden'],
  ['hidden', 'unknown'],
  ['unknown', 'hidden'],
] as const;

/** Maximum number of tries if a rate limit separates the pairs, and minimum number of pairs. */
const [MAX_TRIES, MIN_PAIRS] = [3, 2];

/** Header fields with times, and the precision of other times (ms): pairs are sent within one second. */
const timeFields = new Set(['date', 'age', 'expires']);
const SECOND_MS = 1000;

/** Maximum number of hidden ids. Each takes 9 lookups, and most count at the limiter. */
const MAX_IDS = 4;

/** Ids whose existence must not show. */
export interface HiddenIds {
  readonly needs: NonNullable<Scenario['needs']>;
  readonly hidden: (known: Known) => readonly string[];
}

/** A recommended requirement: hidden and unknown ids are answered alike. */
export function indistinguishable({
  endpoint,
  hidden,
  ...spec
}: Omit<Metadata, 'level'> & HiddenIds & { readonly endpoint: Endpoint }): Scenario {
  return scenario({
    ...spec,
    level: 'recommended',
    reading: 'Other requirements check the status and the value. This one compares everything else.',
    run: async ({ send, sendAtOnce }, known) => {
      const unknown = unknownIds(known, order.length);
      // Fill caches before the comparison.
      let earlier = await send(...unknown.map((id) => lookupOf(endpoint, id)));
      let cases = 0;
      for (const id of evenSample(hidden(known), MAX_IDS)) {
        let result = await compareOnce(id);
        // A difference counts only if it recurs in the same aspect.
        if (result.finding.kind === 'failed') {
          const { aspect } = result.finding;
          result = await compareOnce(id);
          if (result.finding.kind === 'failed' && result.finding.aspect !== aspect)
            result = { finding: pass };
        }
        cases++;
        if (result.finding.kind !== 'passed') return { ...result, cases };
      }
      return { finding: pass, cases };

      async function compareOnce(id: string): Promise<ScenarioResult> {
        const request = lookupOf(endpoint, id);
        let replies = [...earlier, ...(await send(request))];
        earlier = [];
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const sides = { hidden: [] as Answer[], unknown: [] as Answer[] };
          for (const [nth, names] of order.entries()) {
            const ids = { hidden: id, unknown: unknown[nth]! };
            replies = [
              ...replies,
              ...(await sendAtOnce(...names.map((name) => lookupOf(endpoint, ids[name])))),
            ];
            const trouble = replies.find((one) => one.kind === 'trouble');
            if (trouble !== undefined)
              return { finding: inconclusive(trouble.code, trouble.words), request, reply: trouble };
            const pair = replies.slice(-2) as readonly Answer[];
            if (Math.abs(pair[0]!.sentAt - pair[1]!.sentAt) < SECOND_MS)
              for (const [at, name] of names.entries()) sides[name].push(pair[at]!);
          }
          if (sides.hidden.length < MIN_PAIRS) continue;
          const [reply, one] = [sides.hidden[0]!, sides.unknown[0]!];
          // Other requirements check status and value.
          const isAlike = Object.values(sides)
            .flat()
            .every((answer) => sameAnswer(one, answer).kind === 'passed');
          const words = 'not checked because status or value differ, which other requirements check';
          const finding = isAlike
            ? compareAnswers(sides.hidden, sides.unknown)
            : inconclusive('depends', words);
          return { finding, request, reply };
        }
        const words = 'not checked because rate limits kept the compared lookups more than a second apart';
        return { finding: inconclusive('timing-window', words), request, reply: replies.at(-1)! };
      }
    },
  });
}

type Mark = readonly [what: string, of: (answer: Answer) => string];

/**
 * Holds unless a mark (status, body, header field) separates hidden from unknown ids: all unknown ids share its
 * value and no hidden one has it. A mark that depends on id, time, request number or machine varies within a side or
 * occurs on both.
 */
export function compareAnswers(hidden: readonly Answer[], unknown: readonly Answer[]): Verdict {
  const all = [...hidden, ...unknown].flatMap((answer) => Object.keys(answer.headers));
  const names = new Set(all.filter((name) => !timeFields.has(name)));
  const marks: readonly Mark[] = [
    ['status', (answer) => String(answer.status)],
    ['body', (answer) => answer.text],
    ...[...names].flatMap((name): readonly Mark[] => [
      [
        `presence of the header ${name}`,
        ({ headers }) => (headers[name] === undefined ? 'absent' : 'present'),
      ],
      [`header ${name}`, (answer) => header(answer, name) ?? '(none)'],
    ]),
  ];
  for (const [what, mark] of marks) {
    const ofUnknown = new Set(unknown.map(mark));
    const [shared] = ofUnknown;
    if (ofUnknown.size === 1 && hidden.every((answer) => mark(answer) !== shared)) {
      const [answer] = hidden as readonly [Answer];
      const actual = what === 'body' ? summary(answer) : `${what} ${mark(answer)}`;
      return failed(what, `as for an unknown id: ${what} ${shared}`, actual);
    }
  }
  return pass;
}

/** More could trigger the rate limit. */
const MAX_PAIRS = 16;

/** Observes whether response times differ between foreign and unknown ids. */
export function timing(endpoint: Endpoint, { needs, hidden }: HiddenIds): Scenario {
  return observing({
    id: `foreign-ib/${endpoint}/timing`,
    clause: 'What the service does: cannot look up users outside the IB',
    title: "Whether response times differ between another IB's id and an unknown one",
    needs,
    run: async ({ send, cases }, known) => {
      const pairs = Math.min(MAX_PAIRS, Math.max(5, Math.floor(cases / 4)));
      const ids = hidden(known);
      const asked = unknownIds(known, pairs).flatMap((id, nth) => {
        const pair = [
          { id: ids[nth % ids.length]!, isForeign: true },
          { id, isForeign: false },
        ];
        // Alternate the order: two machines behind a load balancer must not look like a difference.
        return nth % 2 === 0 ? pair : pair.toReversed();
      });
      const replies = await send(...asked.map(({ id }) => lookupOf(endpoint, id)));
      const timesOf = (isForeign: boolean) =>
        replies.flatMap((reply, at) =>
          reply.kind === 'answer' && asked[at]!.isForeign === isForeign ? [reply.tookMs] : [],
        );
      const [foreign, unknown] = [timesOf(true), timesOf(false)];
      if (foreign.length < 5 || unknown.length < 5) {
        const trouble = replies.find((reply) => reply.kind === 'trouble');
        return inconclusive(trouble?.code ?? 'network', trouble?.words ?? 'too few lookups were answered');
      }
      const result = rankTest(foreign, unknown);
      const figures = `effect ${result.effect.toFixed(2)} (0.50 means none), p ${result.p.toFixed(3)}, ${foreign.length} and ${unknown.length} lookups`;
      const words =
        result.p < 0.001
          ? `response times differ: ${figures}`
          : `no difference found: ${figures}; an effect below ${result.detectable.toFixed(2)} would not show`;
      return observed(words, { ...result });
    },
  });
}

/**
 * The Mann–Whitney test of two samples: normal approximation with tie correction.
 *
 * @returns the probability that a value of the first sample exceeds one of the second (0.5: no effect), the
 * two-sided p, and the smallest effect that samples of this size detect with a power of 80 %
 */
export function rankTest(first: readonly number[], second: readonly number[]) {
  const [n, m] = [first.length, second.length];
  const all = [...first, ...second];
  const total = n + m;
  const countIn = (values: readonly number[], isCounted: (value: number) => boolean) =>
    values.filter(isCounted).length;
  const u = first.reduce(
    (sum, one) =>
      sum + countIn(second, (other) => other < one) + countIn(second, (other) => other === one) / 2,
    0,
  );
  // Each of t equal values adds t² - 1, together t³ - t.
  const ties = all.reduce((sum, one) => sum + countIn(all, (other) => other === one) ** 2 - 1, 0);
  const deviation = Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))));
  const z = deviation === 0 ? 0 : (u - (n * m) / 2) / deviation;
  return {
    effect: u / (n * m),
    p: Math.min(1, 2 * (1 - normal(Math.abs(z)))),
    detectable: Math.min(1, 0.5 + (1.96 + 0.84) * Math.sqrt((total + 1) / (12 * n * m))),
  };
}

/** Distribution function of the normal distribution (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429].reduceRight(
    (sum, factor) => (sum + factor) * t,
    0,
  );
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
