import type { Endpoint } from '../../schemas/endpoints.ts';
import { header, summary, type Answer } from '../answer.ts';
import { sameAnswer } from '../rules/expectations.ts';
import { evenSample, unknownIds } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import { scenario, type Metadata, type Scenario, type ScenarioResult } from '../rules/requirement.ts';
import type { Asking } from '../rules/scenario-context.ts';
import { failed, inconclusive, pass, type Verdict, unanswered } from '../rules/verdict.ts';

/** A pair of lookups, and the same in the other order. */
const [there, back] = [['hidden', 'unknown'] as const, ['unknown', 'hidden'] as const];

/** Pairs of two comparisons. Machines that answer in turn tell the sides apart in one of them at most, if nothing comes between. */
const orders = [
  [there, there, back, back],
  [there, back, there, back],
] as const;
const PAIRS = orders[0].length;

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
    endpoint,
    level: 'recommended',
    sends: 40,
    reading: 'Other requirements check the status and the value. This one compares everything else.',
    run: (context, known) => compareEach(context, asksFor(endpoint, known), hidden(known), known),
  });
}

/** A lookup of an id, always with the same key: a server may count or cache by key. */
type Ask = (id: string) => Request;
const asksFor =
  (endpoint: Endpoint, { callerKeys: [key] }: Known): Ask =>
  (id) =>
    lookupOf(endpoint, id, key && { credential: { as: 'key', key } });

/** Compares answers about hidden ids with those about unknown ones. */
async function compareEach(
  context: Asking,
  ask: Ask,
  hidden: readonly string[],
  known: Known,
): Promise<ScenarioResult> {
  const ids = unknownIds(known, PAIRS + PAIRS / 2);
  const [unknown, others] = [ids.slice(0, PAIRS), ids.slice(PAIRS)];
  // Fill caches before the comparison.
  await context.send(...unknown.map(ask));
  let cases = 0;
  for (const id of evenSample(hidden, MAX_IDS)) {
    let result = await compareOnce(context, ask, id, unknown, orders[0]);
    // A difference counts only if it recurs in the same aspect.
    if (result.finding.kind === 'failed') {
      const { aspect } = result.finding;
      const before = await askInTurn(context, ask, id, unknown);
      const varied = [unknown[0]!, others[0]!, unknown[1]!, others[1]!];
      result = await compareOnce(context, ask, id, varied, orders[1], before);
      if (result.finding.kind === 'failed' && result.finding.aspect !== aspect) result = { finding: pass };
    }
    cases++;
    if (result.finding.kind !== 'passed') return { ...result, cases };
  }
  return { finding: pass, cases };
}

/** Answers about hidden and about unknown ids. */
type Sides = Record<'hidden' | 'unknown', Answer[]>;

/**
 * Asks for unknown ids in unequal numbers and at other times, so that no count or time of a cache is the same, and for
 * the hidden one between them: pairs may meet the same two machines each time, these do not.
 */
async function askInTurn(
  { send, wait }: Asking,
  ask: Ask,
  hidden: string,
  [often, once]: readonly string[],
): Promise<Sides> {
  await wait(SECOND_MS, 'repeat');
  const ids = [often!, often!, hidden, hidden, once!, hidden];
  const replies = await send(...ids.map(ask));
  const answers = (isHidden: boolean) =>
    replies.flatMap((one, at) => (one.kind === 'answer' && (ids[at] === hidden) === isHidden ? [one] : []));
  return { hidden: answers(true), unknown: answers(false) };
}

/** Compares the answers about a hidden id with those about unknown ones. */
async function compareOnce(
  { send, sendAtOnce }: Asking,
  ask: Ask,
  id: string,
  unknown: readonly string[],
  order: (typeof orders)[number],
  before: Sides = { hidden: [], unknown: [] },
): Promise<ScenarioResult> {
  const request = ask(id);
  let replies = await send(request);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const sides: Sides = { hidden: [], unknown: [] };
    for (const [nth, names] of order.entries()) {
      const ids = { hidden: id, unknown: unknown[nth]! };
      replies = await sendAtOnce(...names.map((name) => ask(ids[name])));
      const lost = replies.find((one) => one.kind === 'trouble');
      if (lost !== undefined) return { finding: unanswered(lost), request, reply: lost };
      const pair = replies as readonly Answer[];
      if (Math.abs(pair[0]!.sentAt - pair[1]!.sentAt) < SECOND_MS)
        for (const [at, name] of names.entries()) sides[name].push(pair[at]!);
    }
    if (sides.hidden.length < MIN_PAIRS) continue;
    const [reply, one] = [sides.hidden[0]!, sides.unknown[0]!];
    for (const name of ['hidden', 'unknown'] as const) sides[name].push(...before[name]);
    // Other requirements check status and value.
    const isAlike = Object.values(sides)
      .flat()
      .every((answer) => sameAnswer(one, answer).kind === 'passed');
    const words = 'not checked because status or value differ, which other requirements check';
    const finding = isAlike ? compareAnswers(sides.hidden, sides.unknown) : inconclusive('depends', words);
    return { finding, request, reply };
  }
  const words = 'not checked because rate limits kept the compared lookups more than a second apart';
  return { finding: inconclusive('timing-window', words), request, reply: replies.at(-1)! };
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
