import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer } from '../answer.ts';
import { expectError, isLimiterAnswer } from '../expectations.ts';
import type { Known } from '../known.ts';
import type { Stream } from './burst.ts';
import { explore, sendMembers, type Exploration, type Limited } from './explore.ts';
import { describeBursts } from './history.ts';
import type { BurstFinding } from './judge-bursts.ts';
import { burstSize, describeMs, statedLimit, type RateLimit } from './limit.ts';
import type { Request } from '../request.ts';
import { monitor, scenario, type Requirement, type Scenario, type ScenarioResult } from '../requirement.ts';
import type { Context } from '../scenario-context.ts';
import { observing } from '../scenarios/observing.ts';
import { failed, pass, observed, inconclusive, type Verdict } from '../verdict.ts';

type Judge = (endpoint: Endpoint, context: Context, known: Known) => Promise<ScenarioResult>;

/** Checks that a 429 comes, and that it comes at the stated limit. */
async function judgeLimit(endpoint: Endpoint, context: Context, known: Known): Promise<ScenarioResult> {
  const exploration = await explore(endpoint, context, known);
  const { streams, limited } = exploration;
  const { request, answer } = limited?.first.refusal ?? {};
  return {
    finding:
      limited === undefined && context.keyWorks() === false
        ? inconclusive('key-refused', 'the target answers every request of the key under test with 401')
        : limitVerdict(endpoint, exploration, statedLimit(endpoint, known), context),
    cases: streams.reduce((sum, { sent }) => sum + sent, 0),
    ...(request !== undefined && { request, reply: answer! }),
  };
}

/**
 * `finding`, unless a request got no answer: then inconclusive.
 *
 * @param words what happened; by default why that request got none
 */
function findingOrTrouble<Of>(streams: readonly Stream[], finding: Of, words?: string) {
  const trouble = streams.at(-1)?.trouble;
  return trouble === undefined ? finding : inconclusive(trouble.code, words ?? trouble.words);
}

const describeStreams = (streams: readonly Stream[]) =>
  streams
    .map(({ kind, sent, elapsedMs }) => `${sent} requests (${kind}) in ${describeMs(elapsedMs)}`)
    .join(', ');

/** The verdict on a limiter, compared with the stated limit if there is one and if that was possible. */
function limitVerdict(
  endpoint: Endpoint,
  exploration: Exploration,
  limit: RateLimit | undefined,
  { isContradicted, isGiven, wholeRunMs }: Context,
): Verdict {
  const { streams, bursts, judgement, limited } = exploration;
  if (limit !== undefined && judgement?.kind === 'kept') return pass;
  if (limit !== undefined && judgement?.kind === 'broken')
    return describeBreak(judgement.finding, describeBursts(bursts, limit), exploration, limit);
  const sent = judgement === undefined ? describeStreams(streams) : describeBursts(bursts, limit!);
  const words = `no 429 after ${sent}`;
  if (limited === undefined)
    return findingOrTrouble(
      streams,
      limit === undefined || judgement === undefined
        ? inconclusive('limit-not-reached', words)
        : inconclusive('timing-window', whyOpen(exploration, limit, isGiven)),
      judgement && sent,
    );
  if (limit === undefined) return pass;
  const notCompared = { kind: 'passed', threshold: 'not compared' } as const;
  if (isContradicted(endpoint)) return { ...notCompared, why: 'the target contradicts the stated limit' };
  if (judgement !== undefined) return { ...notCompared, why: whyOpen(exploration, limit, isGiven) };
  const why = 'the run was too short for the rest before a burst';
  return { ...notCompared, why, neededSeconds: Math.ceil(wholeRunMs() / 1000) };
}

/** Why bursts did not decide about a stated limit. */
function whyOpen(
  { bursts, judgement, limited }: Exploration,
  limit: RateLimit,
  isGiven: Context['isGiven'],
): string {
  const description = describeBursts(bursts, limit);
  if (judgement?.kind !== 'open') {
    const recovery = limited?.recovery;
    const why =
      recovery?.kind === 'trouble'
        ? `the key stayed rate-limited: ${recovery.words}`
        : 'no time was left for it';
    return `${description}. A second burst is needed to decide, but ${why}`;
  }
  const { finding } = judgement;
  if (finding.kind === 'lost') return `${description}. Too many requests got no answer`;
  const isLate = finding.kind === 'overshoot';
  const why =
    finding.kind === 'too slow'
      ? `The window of ${describeMs(limit.windowMs)} ended during the burst: ${slowness(limit, isGiven)}`
      : `The bursts gave different results${isLate ? ': does the limiter count requests too late?' : ''}`;
  return `${description}. ${why}`;
}

/** Why a burst took too long: a flag of the run may slow it down. */
function slowness(limit: RateLimit, isGiven: Context['isGiven']): string {
  const flags = (['--rate', '--concurrency'] as const).filter(isGiven);
  const perSecond = Math.ceil((4000 * burstSize(limit)) / limit.windowMs);
  return flags.length === 0
    ? 'the target was too slow, or this machine was busy'
    : `${flags.join(' or ')} is too low, or the target was too slow: ${perSecond} requests per second are needed`;
}

function describeBreak(
  finding: BurstFinding,
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
    finding.kind === 'fewer'
      ? `429 came before ${most} requests had passed. A limit of ${finding.passed} in ${windowMs / 1000} s would explain it`
      : causeOf(finding.passed, limit);
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

const notReached = inconclusive('limit-not-reached', 'not checked because no 429 came');

/** A judge of a limiter that has answered 429. */
const onceLimited =
  (judgeLimited: (limited: Limited, exploration: Exploration, limit?: RateLimit) => ScenarioResult): Judge =>
  async (endpoint, context, known) => {
    const exploration = await explore(endpoint, context, known);
    return exploration.limited === undefined
      ? { finding: findingOrTrouble(exploration.streams, notReached) }
      : judgeLimited(exploration.limited, exploration, statedLimit(endpoint, known));
  };

/** Checks that the key works again after the wait. */
const judgeRecovery = onceLimited(({ recovery, quietMs, decidingMs, first }) => {
  if (recovery.kind === 'answer') return { finding: pass, cases: 1 };
  const { request, answer: reply } = first.refusal;
  const { code, words } = recovery;
  if (code !== 'rate-limited' || decidingMs === undefined)
    return { finding: inconclusive(code, words), request, reply };
  const deciding = describeMs(decidingMs);
  const finding =
    quietMs >= decidingMs
      ? failed('status', `no 429 after ${deciding} in which nothing was sent`, words)
      : inconclusive('budget', `${words}; a rest of ${deciding} would decide whether it ever ends`);
  return { finding, request, reply };
});

/** Checks that a limiter counts requests before it lets others pass. It must have been seen twice that it does not. */
const judgeCounting = onceLimited(({ first }, { bursts, judgement }, limit) => {
  const depends = (words: string) => ({ finding: inconclusive('depends', `not checked because ${words}`) });
  if (limit === undefined || judgement === undefined) return depends('no stated limit was compared');
  if (judgement.kind !== 'kept') return depends('bursts do not fit the stated limit');
  if ((judgement.countsLater ?? 0) < 2) return { finding: pass, cases: bursts.length };
  const { request, answer: reply } = first.refusal;
  const expected = `${limit.most} requests pass, also if they are sent at once`;
  return { finding: failed('threshold', expected, describeBursts(bursts, limit)), request, reply };
});

/** Checks that a limited key stays limited if the request is written in another way. */
const judgeWaysAround = onceLimited(({ isLimited, passed, cases }) => {
  if (passed === undefined) {
    const words = 'the limit ended before other forms were tried';
    return { finding: isLimited ? pass : inconclusive('timing-window', words), cases };
  }
  const { form, request, reply } = passed;
  const expected = `429, or a refusal of the form (${form}), while the plain request gets 429`;
  const actual = reply.kind === 'answer' ? summary(reply) : reply.words;
  return { finding: failed('status', expected, actual), request, reply, cases };
});

/** Whether a request is GET to the path of its endpoint. The interface has no messages for others. */
const isToEndpoint = ({ endpoint, method, target }: Request): boolean =>
  method === 'GET' && target.split('?')[0] === endpoints[endpoint].path;

function message(endpoint: Endpoint): Requirement {
  const limited = expectError(endpoint, 429);
  return monitor({
    id: `rate-limit/${endpoint}/message`,
    level: 'required',
    clause: 'Errors, 429',
    title: 'Every 429 has the exact error body of its endpoint',
    ifUnseen: notReached,
    judge: (request, answer) =>
      request.endpoint === endpoint && isToEndpoint(request) && isLimiterAnswer(endpoint, answer)
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
    words: (limited: Limited, exploration: Exploration) => ReturnType<typeof observed>,
  ) =>
    observing({
      id: `rate-limit/${endpoint}/${name}`,
      endpoint,
      turn: 'last',
      clause: 'Limits: not shown',
      title,
      run: async (context, known) => {
        const exploration = await explore(endpoint, context, known);
        return exploration.limited === undefined
          ? findingOrTrouble(exploration.streams, observed('no 429 came'))
          : words(exploration.limited, exploration);
      },
    });
  return [
    afterLimit('retry-after', 'Which rate limit headers a 429 has', ({ first }) => {
      const fields = limitFields(first.refusal.answer);
      return observed(listOf(fields) || 'none', fields);
    }),
    afterLimit('threshold', 'After how many requests 429 comes', (limited, exploration) => {
      const { streams, judgement, isRested } = exploration;
      const { counting = {} } = limited;
      const { kind, passed } = limited.first;
      const spared = streams.filter(({ refusal }) => refusal === undefined).map((one) => one.kind);
      const words = [
        // Without a rest, earlier requests count too.
        isRested ? `after ${passed} requests (${kind})` : `at least ${passed} passed (${kind})`,
        ...(spared.length === 0 ? [] : [`${spared.join(' and ')} did not count`]),
        ...Object.entries(counting).map(([other, does]) => `${other} ${does ? 'count too' : 'do not count'}`),
        ...(judgement?.kind === 'kept' && (judgement.countsLater ?? 0) > 1
          ? ['more requests pass if they come fast: the limiter counts them late']
          : []),
      ];
      return observed(words.join('; '), { kind, passed, isRested, spared, counting });
    }),
    afterLimit('window', 'How long the rate limit lasts', ({ recovery, refusedMs, recoveryMs }) => {
      const data = { leastMs: Math.round(refusedMs), mostMs: Math.round(recoveryMs) };
      const words =
        recovery.kind === 'answer'
          ? `between ${describeMs(data.leastMs)} and ${describeMs(data.mostMs)} after the first request`
          : `not measured to its end, after ${describeMs(recoveryMs)}: ${recovery.words}`;
      return observed(words, data);
    }),
    afterLimit('scope', 'Which other keys are rate-limited', ({ others }) => {
      const words = Object.entries(others).map(
        ([name, isLimited]) => `${name} ${isLimited ? 'is rate-limited too' : 'is not rate-limited'}`,
      );
      return observed(words.length === 0 ? 'the fixture has no other active key' : words.join(', '), others);
    }),
    afterLimit('order', 'How other requests are answered while a key is rate-limited', ({ statuses }) =>
      observed(listOf(statuses), statuses),
    ),
  ];
}

/** Checks that lookups of members never count as failed. */
async function judgeSuccesses(endpoint: Endpoint, context: Context, known: Known): Promise<ScenarioResult> {
  const { limited } = await explore(endpoint, context, known);
  const limit = statedLimit(endpoint, known);
  if (limited === undefined) {
    // Without a limit, 100 lookups are enough.
    await context.waitForReset(endpoint);
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

/** A scenario that uses up the limit of an endpoint: it comes last. */
const atLimit = (
  endpoint: Endpoint,
  name: string,
  judge: Judge,
  row: Pick<Scenario, 'level' | 'clause' | 'title' | 'reading' | 'needs'>,
): Requirement =>
  scenario({
    id: `rate-limit/${endpoint}/${name}`,
    endpoint,
    turn: 'last',
    ...row,
    run: (context, known) => judge(endpoint, context, known),
  });

export const rateLimit: readonly Requirement[] = [
  ...endpointNames.map(message),
  atLimit('user-status', 'failed-lookups', judgeLimit, {
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Repeated failed lookups in a short time get 429',
    reading:
      'The interface does not say what counts as failed, so unknown users, invalid ids and bad keys are tried in turn. If the fixture states a limit, at least that many lookups must pass after a pause. No more may pass than common limiters allow: fixed, clock-aligned, sliding or weighted window, or a bucket of that size.',
  }),
  atLimit('user-status', 'spares-successes', judgeSuccesses, {
    level: 'recommended',
    clause: 'Limits: triggered by repeated failed lookups',
    title: 'Lookups of users under the IB do not trigger the rate limit',
    needs: [['user-status', { situation: 'own' }]],
  }),
  atLimit('deposit-check', 'requests', judgeLimit, {
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Many requests in a short time get 429',
  }),
  ...endpointNames.flatMap((endpoint): readonly Requirement[] => [
    atLimit(endpoint, 'recovers', judgeRecovery, {
      level: 'recommended',
      clause: 'Errors, notes on 429: wait, with exponential back-off',
      title: 'A rate-limited key works again after waiting',
    }),
    atLimit(endpoint, 'counts-at-once', judgeCounting, {
      level: 'recommended',
      clause: 'Limits: abuse prevention',
      title: 'Requests in flight at the same time do not pass beyond the limit',
    }),
    atLimit(endpoint, 'no-way-around', judgeWaysAround, {
      level: 'recommended',
      clause: 'Limits; Errors, 429: abuse prevention',
      title: 'A rate-limited key stays limited if the request is written in another way',
      reading: 'A redirect or an error refuses such a form, which is right too.',
    }),
    ...observations(endpoint),
  ]),
];
