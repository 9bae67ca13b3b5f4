import type { Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { unknownIds, spread } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { lookupOf } from './request.ts';
import { observing, scenario, type Scenario, type ScenarioResult, type Subject } from './requirement.ts';
import { failed, held, observed, unjudged, type Verdict } from './verdict.ts';

/** Pairs of lookups in one comparison: neither side comes first throughout. */
const order = [
  ['hidden', 'unknown'],
  ['unknown', 'hidden'],
  ['hidden', 'unknown'],
  ['unknown', 'hidden'],
] as const;

/** Times that a comparison begins anew, where a limiter drew its pairs apart, and pairs that it needs. */
const [MAX_TRIES, MIN_PAIRS] = [3, 2];

/** What a server says of the time: answers of the same second (ms) may still differ in it. */
const timeFields = new Set(['date', 'age', 'expires']);
const SECOND = 1000;

/** Hidden ids that are compared: each takes 9 lookups, most of which count at the limiter. */
const MOST_IDS = 4;

/** Ids whose existence must not show. */
export interface Hidden {
  readonly needs: NonNullable<Scenario['needs']>;
  readonly hidden: (known: Known) => readonly string[];
}

/** A recommended requirement: what is hidden and what does not exist are answered alike. */
export function indistinguishable({
  endpoint,
  hidden,
  ...spec
}: Omit<Subject, 'level'> & Hidden & { readonly endpoint: Endpoint }): Scenario {
  return scenario({
    ...spec,
    level: 'recommended',
    reading: 'Other requirements check the status and the value. This one compares everything else.',
    run: async ({ send, sendAtOnce }, known) => {
      const unknown = unknownIds(known, order.length);
      // Whatever a cache says the first time, it has said before the comparison.
      let earlier = await send(...unknown.map((id) => lookupOf(endpoint, id)));
      let cases = 0;
      for (const id of spread(hidden(known), MOST_IDS)) {
        let result = await compareOnce(id);
        // A difference has to recur, and be the same.
        if (result.finding.kind === 'failed') {
          const { aspect } = result.finding;
          result = await compareOnce(id);
          if (result.finding.kind === 'failed' && result.finding.aspect !== aspect)
            result = { finding: held };
        }
        cases++;
        if (result.finding.kind !== 'held') return { ...result, cases };
      }
      return { finding: held, cases };

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
              return { finding: unjudged(trouble.code, trouble.words), request, reply: trouble };
            const pair = replies.slice(-2) as readonly Answer[];
            if (Math.abs(pair[0]!.sentAt - pair[1]!.sentAt) < SECOND)
              for (const [at, name] of names.entries()) sides[name].push(pair[at]!);
          }
          if (sides.hidden.length < MIN_PAIRS) continue;
          const [reply, one] = [sides.hidden[0]!, sides.unknown[0]!];
          // Where status or value differ, one of the two is wrong on its own account.
          const finding = Object.values(sides)
            .flat()
            .every((answer) => sameAnswer(one, answer).kind === 'held')
            ? compare(sides.hidden, sides.unknown)
            : unjudged(
                'depends',
                'not checked because status or value differ, which other requirements check',
              );
          return { finding, request, reply };
        }
        const words = 'not checked because rate limits kept the compared lookups more than a second apart';
        return { finding: unjudged('timing-window', words), request, reply: replies.at(-1)! };
      }
    },
  });
}

type Mark = readonly [what: string, of: (answer: Answer) => string];

/**
 * Holds where no mark tells the two kinds apart. A mark tells when all unknown ids share it and no
 * hidden one has it. What follows the id, the time, the number of the request or the machine behind
 * a load balancer varies among the unknown ids or shows up on both sides: it tells nothing.
 */
export function compare(hidden: readonly Answer[], unknown: readonly Answer[]): Verdict {
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
  return held;
}

/** Lookups of each kind: enough to see a coarse difference, few enough not to wake the limiter. */
const MOST_PAIRS = 16;

/** Whether answer times tell a foreign id from an unknown one. */
export function timing(endpoint: Endpoint, { needs, hidden }: Hidden): Scenario {
  return observing({
    id: `foreign-ib/${endpoint}/timing`,
    clause: 'What the service does: cannot look up users outside the IB',
    title: "Whether response times differ between another IB's id and an unknown one",
    needs,
    run: async ({ send, cases }, known) => {
      const pairs = Math.min(MOST_PAIRS, Math.max(5, Math.floor(cases / 4)));
      const ids = hidden(known);
      const asked = unknownIds(known, pairs).flatMap((id, nth) => {
        const pair = [
          { id: ids[nth % ids.length]!, isForeign: true },
          { id, isForeign: false },
        ];
        // Neither kind comes first throughout: two machines that answer in turn are no difference.
        return nth % 2 === 0 ? pair : pair.toReversed();
      });
      const replies = await send(...asked.map(({ id }) => lookupOf(endpoint, id)));
      const timesOf = (isForeign: boolean) =>
        replies.flatMap((reply, at) =>
          reply.kind === 'answer' && asked[at]!.isForeign === isForeign ? [reply.tookMs] : [],
        );
      const [foreign, strange] = [timesOf(true), timesOf(false)];
      if (foreign.length < 5 || strange.length < 5) {
        const trouble = replies.find((reply) => reply.kind === 'trouble');
        return unjudged(trouble?.code ?? 'network', trouble?.words ?? 'too few lookups were answered');
      }
      const result = rankTest(foreign, strange);
      const figures = `effect ${result.effect.toFixed(2)} (0.50 means none), p ${result.p.toFixed(3)}, ${foreign.length} and ${strange.length} lookups`;
      const words =
        result.p < 0.001
          ? `response times differ: ${figures}`
          : `no difference found: ${figures}; detectable from ${result.detectable.toFixed(2)}`;
      return observed(words, { ...result });
    },
  });
}

/**
 * The Mann–Whitney test of two samples, by its normal approximation with correction for ties.
 *
 * @returns the chance that a value of the first sample is above one of the second (0.5: no effect),
 *   the two-sided p, and the least effect that samples of this size show four times in five
 */
export function rankTest(
  first: readonly number[],
  second: readonly number[],
): { effect: number; p: number; detectable: number } {
  const [n, m] = [first.length, second.length];
  const sorted = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].toSorted((a, b) => a.value - b.value);
  let rankSum = 0;
  let ties = 0;
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (end < sorted.length && sorted[end]!.value === sorted[start]!.value) end++;
    const size = end - start;
    ties += size ** 3 - size;
    rankSum += sorted.slice(start, end).filter(({ isFirst }) => isFirst).length * ((start + 1 + end) / 2);
    start = end;
  }
  const u = rankSum - (n * (n + 1)) / 2;
  const total = n + m;
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
