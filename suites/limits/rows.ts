import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { summary } from '../answer.ts';
import { expectError, isLimiterAnswer } from '../expectations.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { monitor, scenario, type Requirement, type Scenario, type ScenarioResult } from '../requirement.ts';
import type { Context } from '../scenario-context.ts';
import { failed, pass, observed, inconclusive, type Observation, type Verdict } from '../verdict.ts';
import type { Stream } from './burst.ts';
import { explore, sendMembers, type Exploration, type Limited } from './explore.ts';
import { describeBursts } from './history.ts';
import type { BurstFinding } from './judge-bursts.ts';
import { burstSize, describeMs, statedLimit, type RateLimit } from './limit.ts';

/** What a run found out about a limiter, and what the fixture states. */
interface Found extends Exploration {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly stated: RateLimit | undefined;
}

type Judge = (found: Found) => ScenarioResult | Promise<ScenarioResult>;

const describeStreams = (streams: readonly Stream[]) =>
  streams
    .map(({ kind, sent, elapsedMs }) => `${sent} requests (${kind}) in ${describeMs(elapsedMs)}`)
    .join(', ');

/** Judges that a 429 comes, and that it comes at the stated limit. */
function judgeLimit(found: Found): ScenarioResult {
  const { streams, limited } = found;
  return {
    finding: limitVerdict(found),
    cases: streams.reduce((sum, { sent }) => sum + sent, 0),
    ...limited?.first.refusal,
  };
}

function limitVerdict(found: Found): Verdict {
  const { endpoint, streams, bursts, judgement, limited, stated, context } = found;
  if (limited === undefined && context.keyWorks() === false)
    return inconclusive('key-refused', 'the target answers every request of the key under test with 401');
  if (judgement?.kind === 'kept') return pass;
  if (judgement?.kind === 'broken') return describeBreak(judgement.finding, found, stated!);
  const why = judgement && whyOpen(found, stated!);
  if (limited === undefined) {
    const trouble = streams.at(-1)?.trouble;
    if (trouble !== undefined)
      return inconclusive(trouble.code, judgement ? describeBursts(bursts, stated!) : trouble.words);
    const words = why ?? `no 429 after ${describeStreams(streams)}`;
    return inconclusive(why === undefined ? 'limit-not-reached' : 'timing-window', words);
  }
  if (stated === undefined) return pass;
  const notCompared = { kind: 'passed', threshold: 'not compared' } as const;
  if (context.isContradicted(endpoint))
    return { ...notCompared, why: 'the target contradicts the stated limit' };
  if (why !== undefined) return { ...notCompared, why };
  const neededSeconds = Math.ceil(context.wholeRunMs() / 1000);
  return { ...notCompared, why: 'the run was too short for the rest before a burst', neededSeconds };
}

/** Why bursts did not decide about a stated limit. */
function whyOpen({ bursts, judgement, limited, context }: Found, stated: RateLimit): string {
  const kind = judgement?.kind === 'open' ? judgement.finding.kind : 'again';
  const recovery = limited?.recovery;
  const why =
    kind === 'again'
      ? `A second burst is needed to decide, but ${recovery?.kind === 'trouble' ? `the key stayed rate-limited: ${recovery.words}` : 'no time was left for it'}`
      : kind === 'lost'
        ? 'Too many requests got no answer'
        : kind === 'too slow'
          ? `The window of ${describeMs(stated.windowMs)} ended during the burst: ${slowness(stated, context)}`
          : `The bursts gave different results${kind === 'overshoot' ? ': does the limiter count requests too late?' : ''}`;
  return `${describeBursts(bursts, stated)}. ${why}`;
}

/** Why a burst took too long: a flag of the run may slow it down. */
function slowness(stated: RateLimit, { isGiven }: Context): string {
  const flags = (['--rate', '--concurrency'] as const).filter(isGiven);
  const perSecond = Math.ceil((4000 * burstSize(stated)) / stated.windowMs);
  return flags.length === 0
    ? 'the target was too slow, or this machine was busy'
    : `${flags.join(' or ')} is too low, or the target was too slow: ${perSecond} requests per second are needed`;
}

/** The verdict on a stated limit that bursts show to be broken. */
function describeBreak(finding: BurstFinding, found: Found, { most, windowMs }: RateLimit): Verdict {
  const { streams, limited, bursts } = found;
  const { kind, passed, words } = finding;
  const seconds = windowMs / 1000;
  const expected = `${most} requests pass in ${seconds} s and the next one gets 429, as the fixture states`;
  const happened = describeBursts(bursts, { most, windowMs });
  if (kind === 'instead') return failed('status', expected, `${passed} passed, then ${words}: ${happened}`);
  if (limited === undefined) return failed('status', expected, `no 429 after ${describeStreams(streams)}`);
  const explanation = `A limit of ${passed} in ${seconds} s would explain it`;
  const cause =
    kind === 'fewer'
      ? `429 came before ${most} requests had passed. ${explanation}`
      : passed % most === 0
        ? `${passed / most} times as many passed as stated. Does each process have its own counter, or is the window shorter?`
        : `${passed} requests passed instead of ${most}. ${passed === most + 1 ? 'Does the limiter use > instead of >=?' : explanation}`;
  return failed('threshold', expected, `${happened}. ${cause}`);
}

const listOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');

/** Judges that lookups of members never count as failed: more of them pass than failed lookups. */
async function judgeSuccesses({ endpoint, context, known, stated, limited }: Found): Promise<ScenarioResult> {
  const windowMs = context.longestWindowMs(endpoint);
  if (limited === undefined && windowMs < context.leftMs()) await context.waitForQuiet(endpoint, windowMs);
  // Without a limit, 100 lookups are enough.
  const most = limited?.first.passed ?? stated?.most ?? 100;
  const members = limited === undefined ? await sendMembers(context, known, most, stated) : limited.members;
  if (members === undefined) {
    const { recovery } = limited!;
    const isOther = recovery.kind === 'trouble' && recovery.code !== 'rate-limited';
    const why = 'not checked because the key was still rate-limited';
    return { finding: isOther ? inconclusive(recovery.code, recovery.words) : inconclusive('depends', why) };
  }
  const { trouble, refusal, passed, sent: cases, elapsedMs } = members;
  if (refusal !== undefined) {
    const expected = '200, because a lookup of a member is not a failed lookup';
    return {
      finding: failed('status', expected, `429 after ${passed} lookups of members`),
      ...refusal,
      cases,
    };
  }
  if (trouble !== undefined && passed <= most) return { finding: inconclusive(trouble.code, trouble.words) };
  const words = `${describeStreams([members])}: too slow to reach the limit within its window`;
  return stated !== undefined && elapsedMs > stated.windowMs
    ? { finding: inconclusive('timing-window', words) }
    : { finding: pass, cases };
}

const notReached = inconclusive('limit-not-reached', 'not checked because no 429 came');

/** A judge of a limiter that has answered 429. */
const onceLimited =
  (
    judge: (limited: Limited, found: Found) => ScenarioResult,
    otherwise: ScenarioResult['finding'] = notReached,
  ): Judge =>
  (found) => {
    if (found.limited !== undefined) return judge(found.limited, found);
    const trouble = found.streams.at(-1)?.trouble;
    return { finding: trouble === undefined ? otherwise : inconclusive(trouble.code, trouble.words) };
  };

/** Judges that the key works again after the wait. */
const judgeRecovery = onceLimited(({ recovery, quietMs, decidingMs, first: { refusal } }) => {
  if (recovery.kind === 'answer') return { finding: pass, cases: 1 };
  const { code, words } = recovery;
  if (code !== 'rate-limited' || decidingMs === undefined)
    return { finding: inconclusive(code, words), ...refusal };
  const deciding = describeMs(decidingMs);
  const finding =
    quietMs >= decidingMs
      ? failed('status', `no 429 after ${deciding} in which nothing was sent`, words)
      : inconclusive('budget', `${words}; a rest of ${deciding} would decide whether it ever ends`);
  return { finding, ...refusal };
});

/** In how many bursts a limiter let more pass, but not with pauses. Once may be a chance. */
const countsLater = ({ judgement }: Found) => judgement?.kind === 'kept' && (judgement.countsLater ?? 0) > 1;

/** Judges that a limiter counts requests before it lets others pass. */
const judgeCounting = onceLimited(({ first }, found) => {
  const { bursts, judgement, stated } = found;
  const depends = (words: string) => ({ finding: inconclusive('depends', `not checked because ${words}`) });
  if (stated === undefined || judgement === undefined) return depends('no stated limit was compared');
  if (judgement.kind !== 'kept') return depends('bursts do not fit the stated limit');
  if (!countsLater(found)) return { finding: pass, cases: bursts.length };
  const expected = `${stated.most} requests pass, also if they are sent at once`;
  return { finding: failed('threshold', expected, describeBursts(bursts, stated)), ...first.refusal };
});

/** Judges that a limited key stays limited if the request is written in another way. */
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

/** After how many requests 429 came, and which of them counted. */
function thresholdOf({ first, counting = {} }: Limited, found: Found): Observation {
  const { streams, isRested } = found;
  const { kind, passed } = first;
  const spared = streams.filter(({ refusal }) => refusal === undefined).map((one) => one.kind);
  const words = [
    // Without a rest, earlier requests count too.
    isRested ? `after ${passed} requests (${kind})` : `at least ${passed} passed (${kind})`,
    ...(spared.length === 0 ? [] : [`${spared.join(' and ')} did not count`]),
    ...Object.entries(counting).map(([other, does]) => `${other} ${does ? 'count too' : 'do not count'}`),
    ...(countsLater(found) ? ['more requests pass if they come fast: the limiter counts them late'] : []),
  ];
  return observed(words.join('; '), { kind, passed, isRested, spared, counting });
}

/** How long refusals lasted. */
function windowOf({ recovery, refusedMs, recoveryMs }: Limited): Observation {
  const data = { leastMs: Math.round(refusedMs), mostMs: Math.round(recoveryMs) };
  const words =
    recovery.kind === 'answer'
      ? `between ${describeMs(data.leastMs)} and ${describeMs(data.mostMs)} after the first request`
      : `not measured to its end, after ${describeMs(recoveryMs)}: ${recovery.words}`;
  return observed(words, data);
}

/** Uses up the limit of an endpoint, once for all rows: they come last. */
type Row = Pick<Scenario, 'level' | 'clause' | 'title' | 'reading' | 'needs'> & {
  readonly name: string;
  readonly judge: Judge;
};

const rowOf = (endpoint: Endpoint, { name, judge, ...row }: Row): Requirement =>
  scenario({
    ...row,
    id: `rate-limit/${endpoint}/${name}`,
    endpoint,
    turn: 'last',
    run: async (context, known) => {
      const exploration = await explore(endpoint, context, known);
      return judge({ ...exploration, endpoint, context, known, stated: statedLimit(endpoint, known) });
    },
  });

/** Records what a run saw where the interface is silent. */
const observation = (
  name: string,
  title: string,
  show: (limited: Limited, found: Found) => Observation,
): Row => ({
  name,
  level: 'observed',
  clause: 'Limits: not shown',
  title,
  judge: onceLimited((limited, found) => ({ finding: show(limited, found) }), observed('no 429 came')),
});

/** Rows about the limiters of both endpoints. */
const rows: readonly Row[] = [
  {
    name: 'recovers',
    level: 'recommended',
    clause: 'Errors, notes on 429: wait, with exponential back-off',
    title: 'A rate-limited key works again after waiting',
    judge: judgeRecovery,
  },
  {
    name: 'counts-at-once',
    level: 'recommended',
    clause: 'Limits: abuse prevention',
    title: 'Requests in flight at the same time do not pass beyond the limit',
    judge: judgeCounting,
  },
  {
    name: 'no-way-around',
    level: 'recommended',
    clause: 'Limits; Errors, 429: abuse prevention',
    title: 'A rate-limited key stays limited if the request is written in another way',
    reading: 'A redirect or an error refuses such a form, which is right too.',
    judge: judgeWaysAround,
  },
  observation('retry-after', 'Which rate limit headers a 429 has', ({ first }) => {
    const fields = Object.entries(first.refusal.reply.headers).filter(([name]) => /retry|limit/i.test(name));
    const values = Object.fromEntries(fields.map(([name, all]) => [name, all.join(', ')]));
    return observed(listOf(values) || 'none', values);
  }),
  observation('threshold', 'After how many requests 429 comes', thresholdOf),
  observation('window', 'How long the rate limit lasts', windowOf),
  observation('scope', 'Which other keys are rate-limited', ({ others }) => {
    const words = Object.entries(others).map(
      ([key, is]) => `${key} is ${is ? 'rate-limited too' : 'not rate-limited'}`,
    );
    return observed(words.join(', ') || 'the fixture has no other active key', others);
  }),
  observation('order', 'How other requests are answered while a key is rate-limited', ({ statuses }) =>
    observed(listOf(statuses), statuses),
  ),
];

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

export const rateLimit: readonly Requirement[] = [
  ...endpointNames.map(message),
  rowOf('user-status', {
    name: 'failed-lookups',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Repeated failed lookups in a short time get 429',
    reading:
      'The interface does not say what counts as failed, so unknown users, invalid ids and bad keys are tried in turn. If the fixture states a limit, at least that many lookups must pass after a pause. No more may pass than common limiters allow: fixed, clock-aligned, sliding or weighted window, or a bucket of that size.',
    judge: judgeLimit,
  }),
  rowOf('user-status', {
    name: 'spares-successes',
    level: 'recommended',
    clause: 'Limits: triggered by repeated failed lookups',
    title: 'Lookups of users under the IB do not trigger the rate limit',
    needs: [['user-status', { situation: 'own' }]],
    judge: judgeSuccesses,
  }),
  rowOf('deposit-check', {
    name: 'requests',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Many requests in a short time get 429',
    judge: judgeLimit,
  }),
  ...endpointNames.flatMap((endpoint) => rows.map((row) => rowOf(endpoint, row))),
];
