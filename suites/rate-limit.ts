import { endpointNames, endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Answer } from './answer.ts';
import { expectError, fieldsOf as bodyOf } from './expectations.ts';
import type { Known } from './known.ts';
import type { Stream } from './limiter/burst.ts';
import { explore, sendMembers, type Exploration, type Limited } from './limiter/explore.ts';
import { describeBursts, seconds, slowness } from './limiter/history.ts';
import type { LimitBreak } from './limiter/judge-bursts.ts';
import { burstSize, explorationMs, statedLimit, type RateLimit } from './limiter/limit.ts';
import {
  monitor,
  observing,
  scenario,
  type Context,
  type Requirement,
  type ScenarioResult,
} from './requirement.ts';
import { failed, pass, observed, inconclusive, type Verdict } from './verdict.ts';

/** Checks that a 429 comes, and that it comes at the stated limit. */
async function judgeLimit(endpoint: Endpoint, context: Context, known: Known): Promise<ScenarioResult> {
  const exploration = await explore(endpoint, context, known);
  const { streams, limited } = exploration;
  const { request, answer } = limited?.first.refusal ?? {};
  return {
    finding:
      limited === undefined && context.keyWorks() === false
        ? inconclusive('key-refused', 'the target answers every request of the key under test with 401')
        : limitVerdict(exploration, statedLimit(endpoint, known)),
    cases: streams.reduce((sum, { sent }) => sum + sent, 0),
    ...(request === undefined ? {} : { request, reply: answer! }),
  };
}

/** `finding`, unless a request got no answer: then inconclusive. */
function findingOrTrouble<Of>(streams: readonly Stream[], finding: Of) {
  const trouble = streams.at(-1)?.trouble;
  return trouble === undefined ? finding : inconclusive(trouble.code, trouble.words);
}

const describeStreams = (streams: readonly Stream[]) =>
  streams
    .map(({ kind, sent, elapsedMs }) => `${sent} requests (${kind}) in ${seconds(elapsedMs)}`)
    .join(', ');

/** The verdict on a limiter, compared with the stated limit if there is one. */
function limitVerdict(exploration: Exploration, limit: RateLimit | undefined): Verdict {
  const { streams, bursts, judgement, limited } = exploration;
  if (limit === undefined || bursts === undefined || judgement === undefined) {
    const seen =
      limited === undefined
        ? `no 429 after ${describeStreams(streams)}`
        : `429 after ${limited.first.passed} requests`;
    if (limit === undefined) {
      const words = `${seen}; state the threshold under limits in the fixture to have it checked`;
      return limited === undefined
        ? findingOrTrouble(streams, inconclusive('limit-not-reached', words))
        : pass;
    }
    const least = seconds(explorationMs(limit.windowMs));
    const words = `${seen}. Not checked whether ${limit.most} requests pass before a 429: that takes ${least}, and --max-duration left less`;
    const open = inconclusive('budget', words);
    return limited === undefined ? findingOrTrouble(streams, open) : open;
  }
  if (judgement.kind === 'kept') return pass;
  const description = describeBursts(bursts, limit);
  if (judgement.kind === 'again') {
    const words = `${description}. A second burst is needed to decide, but`;
    const recovery = limited?.recovery;
    return recovery?.kind === 'trouble'
      ? inconclusive(recovery.code, `${words} the key stayed rate-limited: ${recovery.words}`)
      : inconclusive('budget', `${words} no time was left for it`);
  }
  if (judgement.kind === 'broken') return describeBreak(judgement.finding, description, exploration, limit);
  const { finding } = judgement;
  if (finding.kind === 'lost')
    return inconclusive('network', `${description}. Too many requests got no answer`);
  const history = bursts.flatMap((burst) => burst.history);
  const why =
    finding.kind === 'tooSlow'
      ? `The window of ${limit.windowMs / 1000} s ended during the burst: ${slowness(history, burstSize(limit), limit.windowMs)}`
      : `The bursts gave different results${finding.kind === 'more' && finding.isOvershoot ? ': does the limiter count a request only after its lookup?' : ''}`;
  return inconclusive('timing-window', `${description}. ${why}`);
}

function describeBreak(
  finding: LimitBreak,
  description: string,
  { streams, limited }: Exploration,
  limit: RateLimit,
): Verdict {
  const { most, windowMs } = limit;
  const stated = `${most} requests pass in ${windowMs / 1000} s and the next one gets 429, as the fixture states`;
  if (finding.kind === 'instead')
    return failed('status', stated, `${finding.passed} passed, then ${finding.words}: ${description}`);
  if (limited === undefined) return failed('status', stated, `no 429 after ${describeStreams(streams)}`);
  const fields = listOf(limitFields(limited.first.refusal.answer));
  const said = fields === '' ? '' : `. Headers of the 429: ${fields}`;
  const cause =
    finding.kind === 'more'
      ? causeOf(finding.passed, limit)
      : `429 came before ${most} requests had passed. A limit of ${finding.before} in ${windowMs / 1000} s would explain it`;
  return failed('threshold', stated, `${description}. ${cause}${said}`);
}

function causeOf(passed: number, { most, windowMs }: RateLimit): string {
  if (passed % most === 0)
    return `${passed / most} times as many passed as stated. Does each process have its own counter, or is the window shorter?`;
  const cause =
    passed === most + 1
      ? 'Does the limiter use > instead of >=?'
      : `A limit of ${passed} in ${windowMs / 1000} s would explain it`;
  return `${passed} requests passed instead of ${most}. ${cause}`;
}

const limitFields = ({ headers }: Answer) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, values]) =>
      /retry|limit/i.test(name) ? [[name, values.join(', ')]] : [],
    ),
  );

/** With a stated window, a key that is refused for longer than this never recovers. */
const MAX_BAN_MS = 3_600_000;

const notReached = inconclusive('limit-not-reached', 'not checked because no 429 came');

/** Checks that the key works again after the wait. */
async function judgeRecovery(endpoint: Endpoint, context: Context, known: Known): Promise<ScenarioResult> {
  const { streams, limited } = await explore(endpoint, context, known);
  if (limited === undefined) return { finding: findingOrTrouble(streams, notReached) };
  const { recovery, recoveryMs } = limited;
  const { request, answer } = limited.first.refusal;
  if (recovery.kind === 'answer') return { finding: pass, cases: 1 };
  const limit = statedLimit(endpoint, known);
  // A ban may outlast the window. The interface does not say how long.
  const isStillLimited = recovery.code === 'rate-limited' && limit !== undefined && recoveryMs > MAX_BAN_MS;
  return {
    finding: isStillLimited
      ? failed('status', `no 429 later than ${limit.windowMs / 1000} s after the last one`, recovery.words)
      : inconclusive(recovery.code, recovery.words),
    request,
    reply: answer,
  };
}

/** A limiter's answer, by status or by message. The model ignores both. */
const isLimiterAnswer = (endpoint: Endpoint, answer: Answer) =>
  answer.status === 429 || bodyOf(answer)?.['error'] === endpoints[endpoint].messages[429];

function message(endpoint: Endpoint): Requirement {
  const limited = expectError(endpoint, 429);
  return monitor({
    id: `rate-limit/${endpoint}/message`,
    level: 'required',
    clause: 'Errors, 429',
    title: 'Every 429 has the exact error body of its endpoint',
    ifUnseen: notReached,
    judge: (request, answer) =>
      // The answer to HEAD has no body (RFC 9110 9.3.2).
      request.endpoint === endpoint && request.method !== 'HEAD' && isLimiterAnswer(endpoint, answer)
        ? limited(answer)
        : undefined,
  });
}

const listOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');

/** What a run records about a limiter where the interface is silent. */
function observations(endpoint: Endpoint): readonly Requirement[] {
  const afterLimit = (
    name: string,
    title: string,
    words: (limited: Limited, known: Known, exploration: Exploration) => ReturnType<typeof observed>,
  ) =>
    observing({
      id: `rate-limit/${endpoint}/${name}`,
      clause: 'Limits: not shown',
      title,
      run: async (context, known) => {
        const exploration = await explore(endpoint, context, known);
        return exploration.limited === undefined
          ? findingOrTrouble(exploration.streams, observed('no 429 came'))
          : words(exploration.limited, known, exploration);
      },
    });
  return [
    afterLimit('retry-after', 'Which rate limit headers a 429 has', ({ first }) => {
      const fields = limitFields(first.refusal.answer);
      return observed(listOf(fields) || 'none', fields);
    }),
    afterLimit('threshold', 'After how many requests 429 comes', (limited, known, { streams, judgement }) => {
      const { first, counting = {} } = limited;
      const { kind, passed } = first;
      const spared = streams.filter(({ refusal }) => refusal === undefined).map((one) => one.kind);
      const windows = fittingLimiters(limited, statedLimit(endpoint, known));
      // Without a pause, earlier requests may count too.
      const isAfterPause = judgement !== undefined || statedLimit(endpoint, known) === undefined;
      const words = [
        `after ${passed} requests (${kind})${isAfterPause ? '' : ', not counting those before'}`,
        ...(spared.length === 0 ? [] : [`${spared.join(' and ')} did not count`]),
        ...Object.entries(counting).map(([other, does]) => `${other} ${does ? 'count too' : 'do not count'}`),
        ...(windows.length === 0 ? [] : [`consistent with: ${windows.join(', ')}`]),
        ...(judgement?.kind === 'kept' && judgement.countsLater === true
          ? ['more requests pass while others are in flight: the limiter counts after its lookup']
          : []),
      ];
      return observed(words.join('; '), { kind, passed, spared, counting, windows });
    }),
    afterLimit('window', 'How long the rate limit lasts', ({ recovery, refusedMs, recoveryMs }) => {
      const data = { leastMs: Math.round(refusedMs), mostMs: Math.round(recoveryMs) };
      const words =
        recovery.kind === 'answer'
          ? `between ${seconds(data.leastMs)} and ${seconds(data.mostMs)} after the first request`
          : `not measured to its end, after ${seconds(recoveryMs)}: ${recovery.words}`;
      return observed(words, data);
    }),
    afterLimit('scope', 'Which other keys are rate-limited', ({ probe: { others } }) => {
      const words = Object.entries(others).map(
        ([name, isLimited]) => `${name} ${isLimited ? 'is rate-limited too' : 'is not rate-limited'}`,
      );
      return observed(words.length === 0 ? 'the fixture has no other active key' : words.join(', '), others);
    }),
    afterLimit(
      'order',
      'How other requests are answered while a key is rate-limited',
      ({ probe: { statuses } }) => observed(listOf(statuses), statuses),
    ),
  ];
}

/** Kinds of limiters that fit the observed recovery. */
function fittingLimiters(
  { passedEarly, recovery, refusedMs }: Limited,
  limit: RateLimit | undefined,
): readonly string[] {
  if (limit === undefined || recovery.kind !== 'answer') return [];
  if (passedEarly) return ['token bucket', 'clock-aligned window'];
  return refusedMs <= 1.1 * limit.windowMs
    ? ['fixed window', 'sliding window', 'clock-aligned window']
    : ['ban longer than the window', 'window extended by refused requests'];
}

/** Checks that lookups of members never count as failed. */
async function judgeSuccesses(context: Context, known: Known): Promise<ScenarioResult> {
  const { limited } = await explore('user-status', context, known);
  const limit = statedLimit('user-status', known);
  if (limited === undefined) {
    // Without a limit, 100 lookups are enough.
    await context.waitForReset('user-status');
    const most = limit?.most ?? 100;
    return judgeMembers(await sendMembers(context, known, most, limit), most, limit);
  }
  const { recovery, members, first } = limited;
  if (members !== undefined) return judgeMembers(members, first.passed, limit);
  return {
    finding:
      recovery.kind === 'trouble' && recovery.code !== 'rate-limited'
        ? inconclusive(recovery.code, recovery.words)
        : inconclusive('depends', 'not checked because the key was still rate-limited'),
  };
}

/** @param most number of failed lookups that pass; more lookups of members must pass */
function judgeMembers(members: Stream, most: number, limit: RateLimit | undefined): ScenarioResult {
  const { trouble, refusal, passed, sent, elapsedMs } = members;
  if (refusal !== undefined) {
    const expected = '200, because a lookup of a member is not a failed lookup';
    const finding = failed('status', expected, `429 after ${passed} lookups of members`);
    return { finding, request: refusal.request, reply: refusal.answer, cases: sent };
  }
  if (trouble !== undefined && passed <= most) return { finding: inconclusive(trouble.code, trouble.words) };
  const words = `${describeStreams([members])}: too slow to reach the limit within its window`;
  return limit !== undefined && elapsedMs > limit.windowMs
    ? { finding: inconclusive('timing-window', words) }
    : { finding: pass, cases: sent };
}

export const rateLimit: readonly Requirement[] = [
  ...endpointNames.map(message),
  scenario({
    id: 'rate-limit/user-status/failed-lookups',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Repeated failed lookups in a short time get 429',
    reading:
      'The interface does not say what counts as failed, so unknown users, invalid ids and bad keys are tried in turn. If the fixture states a limit, at least that many lookups must pass after a pause. No more may pass than common limiters allow: fixed, clock-aligned, sliding or weighted window, or a bucket of that size.',
    run: (context, known) => judgeLimit('user-status', context, known),
  }),
  scenario({
    id: 'rate-limit/user-status/spares-successes',
    level: 'recommended',
    clause: 'Limits: triggered by repeated failed lookups',
    title: 'Lookups of users under the IB do not trigger the rate limit',
    needs: 'user of the IB under test',
    run: judgeSuccesses,
  }),
  scenario({
    id: 'rate-limit/deposit-check/requests',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Many requests in a short time get 429',
    run: (context, known) => judgeLimit('deposit-check', context, known),
  }),
  ...endpointNames.flatMap((endpoint): readonly Requirement[] => [
    scenario({
      id: `rate-limit/${endpoint}/recovers`,
      level: 'recommended',
      clause: 'Errors, notes on 429: wait, with exponential back-off',
      title: 'A rate-limited key works again after waiting',
      run: (context, known) => judgeRecovery(endpoint, context, known),
    }),
    ...observations(endpoint),
  ]),
];
