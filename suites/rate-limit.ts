import type { Endpoint } from '../schemas/endpoints.ts';
import { header } from './answer.ts';
import { errorAnswer } from './expectations.ts';
import type { Known } from './known.ts';
import type { Burst } from './limiter/burst.ts';
import { explore, sendMembers, type Limited } from './limiter/explore.ts';
import { seconds, type Rule, type Sighting } from './limiter/history.ts';
import { thresholdSpan, type Judgement } from './limiter/judge.ts';
import { beyond, statedRule } from './limiter/rule.ts';
import { slowness } from './limiter/slowness.ts';
import type { Doors, Played, Requirement, Watch } from './requirement.ts';
import { observing, scenario } from './scenario.ts';
import { depends, failed, held, observed, unjudged, type Verdict } from './verdict.ts';

const endpointsOfSuite = ['user-status', 'deposit-check'] as const;

/** Whether the limiter set in, and where the fixture states when, whether it was then. */
async function judgeLimit(endpoint: Endpoint, doors: Doors, known: Known): Promise<Played> {
  const { bursts, limited } = await explore(endpoint, doors, known);
  const rule = statedRule(endpoint, known);
  if (limited !== undefined) {
    const { history, judgement, passed, request, answer } = limited;
    const finding =
      judgement !== undefined && rule !== undefined
        ? byRule(judgement, rule, history)
        : passed <= (rule?.most ?? passed)
          ? held
          : unjudged('budget', `429 after ${passed} requests, and no time was left to try it once more`);
    return { finding, cases: history.length, request, reply: answer };
  }
  const cases = bursts.reduce((sum, { sent }) => sum + sent, 0);
  if (doors.keyWorks() === false)
    return {
      finding: unjudged('key-refused', 'the target answers every request of the key under test with 401'),
      cases,
    };
  const { trouble, passed } = bursts.at(-1)!;
  // A connection that breaks just where 429 is due is no accident; anywhere else it tells nothing.
  const isInstead = trouble?.code === 'network' && rule !== undefined && passed >= rule.most;
  if (trouble !== undefined && !isInstead) return { finding: unjudged(trouble.code, trouble.words), cases };
  return { finding: withoutLimit(bursts, rule), cases };
}

/** That no more pass than is stated is what is required; that fewer do counts where it is proven. */
function byRule(judgement: Judgement, { most, windowMs }: Rule, history: readonly Sighting[]): Verdict {
  const stated = `${most} pass in ${windowMs / 1000} s and the next is answered 429, as the fixture states`;
  if (judgement.kind === 'broken') return failed('threshold', stated, judgement.proof);
  if (judgement.kind === 'kept') return held;
  // What is let through unevenly may look like fewer; windows that let fewer through are no such excuse.
  const isUneven = judgement.manners.some((manner) => manner === 'refilled' || manner === 'weighted');
  if (judgement.isStrictEnough && isUneven) return held;
  return unjudged(
    'timing-window',
    `${judgement.words}. Two bursts of ${most + 1} that each take less than ${seconds(windowMs / 4)}, with more than ${seconds(windowMs)} between them, would decide it: they were tried, and ${slowness(history, most + 1, windowMs / 4)}`,
  );
}

function withoutLimit(bursts: readonly Burst[], rule: Rule | undefined): Verdict {
  const end = bursts.at(-1)!.trouble;
  const tried = bursts
    .map(({ kind, sent, elapsedMs }) => `${sent} requests (${kind}) in ${seconds(elapsedMs)}`)
    .join(', ');
  if (rule === undefined)
    return unjudged(
      'limit-not-reached',
      `no 429 after ${tried}; state the threshold in the fixture's limits to have it judged`,
    );
  const windowSeconds = rule.windowMs / 1000;
  // Twice the threshold and more within one window: whichever way windows are laid, one of them holds more than the threshold.
  return bursts.every(({ elapsedMs }) => elapsedMs < rule.windowMs)
    ? failed(
        'status',
        `429 after ${rule.most} in ${windowSeconds} s, as the fixture states`,
        `no 429 after ${tried}${end === undefined ? '' : `: ${end.words}`}`,
      )
    : unjudged(
        'timing-window',
        `no 429 after ${tried}, but the window of ${windowSeconds} s ended meanwhile: ${slowness(
          bursts.flatMap(({ history }) => history),
          beyond(rule),
          rule.windowMs,
        )}`,
      );
}

/** The key works again, once one has waited. */
async function judgeRecovery(endpoint: Endpoint, doors: Doors, known: Known): Promise<Played> {
  const { bursts, limited } = await explore(endpoint, doors, known);
  if (limited === undefined) {
    const trouble = bursts.at(-1)?.trouble;
    return {
      finding:
        trouble === undefined
          ? unjudged('limit-not-reached', 'the limiter never set in')
          : unjudged(trouble.code, trouble.words),
    };
  }
  const { recovery, request, answer } = limited;
  if (recovery.kind === 'answer') return { finding: held, cases: 1 };
  const rule = statedRule(endpoint, known);
  const isStillLimited = recovery.code === 'rate-limited' && rule !== undefined;
  return {
    finding: isStillLimited
      ? failed('status', `no 429 any more, ${rule.windowMs / 1000} s after the last one`, recovery.words)
      : unjudged(recovery.code, recovery.words),
    request,
    reply: answer,
  };
}

function message(endpoint: Endpoint): Watch {
  const limited = errorAnswer(endpoint, 429);
  return {
    kind: 'watch',
    id: `rate-limit/${endpoint}/message`,
    level: 'required',
    clause: 'Errors, 429',
    title: 'Every 429 of the whole run has the exact body of its endpoint',
    unseen: unjudged('limit-not-reached', 'no 429 was seen'),
    sees: ({ request, answer }) =>
      // The answer to HEAD has no body (RFC 9110 9.3.2).
      request.endpoint === endpoint && request.method !== 'HEAD' && answer.status === 429
        ? limited(answer)
        : undefined,
  };
}

/** What is recorded of an endpoint's limiter, where the interface shows nothing. */
function observations(endpoint: Endpoint): readonly Requirement[] {
  const afterLimit = (
    name: string,
    title: string,
    words: (limited: Limited, known: Known, bursts: readonly Burst[]) => ReturnType<typeof observed>,
  ) =>
    observing({
      id: `rate-limit/${endpoint}/${name}`,
      clause: 'Limits: not shown',
      title,
      play: async (doors, known) => {
        const { bursts, limited } = await explore(endpoint, doors, known);
        if (limited !== undefined) return words(limited, known, bursts);
        const trouble = bursts.at(-1)?.trouble;
        return trouble === undefined
          ? observed('the limiter did not set in')
          : unjudged(trouble.code, trouble.words);
      },
    });
  return [
    afterLimit('retry-after', 'Retry-After and other headers of a 429', ({ answer }) => {
      const names = Object.keys(answer.headers).filter((name) => /retry|limit/i.test(name));
      const fields = Object.fromEntries(names.map((name) => [name, header(answer, name)]));
      return observed(
        names.length === 0 ? 'none' : names.map((name) => `${name}: ${fields[name]}`).join(', '),
        fields,
      );
    }),
    afterLimit('threshold', 'Where the limiter set in', (limited, known, bursts) => {
      const { kind, passed, history, judgement, recoveryMs, counting = {} } = limited;
      const spared = bursts.filter(({ refusal }) => refusal === undefined).map((burst) => burst.kind);
      const span = thresholdSpan(history, statedRule(endpoint, known)?.windowMs ?? recoveryMs);
      const manners = judgement?.kind === 'kept' ? judgement.manners : [];
      const words = [
        `after ${passed} requests (${kind})`,
        ...(span === undefined ? [] : [`a threshold of ${between(span.least, span.most)} explains it`]),
        ...(spared.length === 0 ? [] : [`${spared.join(' and ')} did not count`]),
        ...Object.entries(counting).map(([other, does]) => `${other} ${does ? 'count too' : 'do not count'}`),
        ...(manners.length === 0 ? [] : [`windows as seen may be ${manners.join(', ')}`]),
      ];
      return observed(words.join('; '), { kind, passed, ...span, spared, counting, windows: manners });
    }),
    afterLimit('window', 'When the limiter let go', ({ recovery, refusedMs, recoveryMs }) => {
      const data = { leastMs: Math.round(refusedMs), mostMs: Math.round(recoveryMs) };
      return recovery.kind === 'answer'
        ? observed(
            `between ${seconds(data.leastMs)} and ${seconds(data.mostMs)} after its first request`,
            data,
          )
        : observed(`not within ${seconds(recoveryMs)}: ${recovery.words}`, data);
    }),
    afterLimit('scope', 'Whom else the limiter limits', ({ others }) => {
      const words = Object.entries(others).map(
        ([name, isLimited]) => `${name} ${isLimited ? 'is limited too' : 'is not limited'}`,
      );
      return observed(words.length === 0 ? 'no other key to ask with' : words.join(', '), others);
    }),
    afterLimit(
      'order',
      'What a limited key, and an unknown one, is told of other requests',
      ({ meanwhile }) =>
        observed(
          Object.entries(meanwhile)
            .map(([asked, status]) => `${asked}: ${status}`)
            .join(', '),
          meanwhile,
        ),
    ),
  ];
}

const between = (least: number, most: number) =>
  most === Number.POSITIVE_INFINITY
    ? `${least} or more`
    : least === most
      ? `${least}`
      : `${least} to ${most}`;

/** Looking up members is no failed lookup, however often it is done. */
async function judgeSuccesses(doors: Doors, known: Known): Promise<Played> {
  const { limited } = await explore('user-status', doors, known);
  if (limited === undefined) return judgeSuccessesAlone(doors, known);
  const { recovery, members } = limited;
  if (members === undefined)
    return {
      finding:
        recovery.kind === 'trouble' && recovery.code !== 'rate-limited'
          ? unjudged(recovery.code, recovery.words)
          : depends('rate-limit/user-status/recovers'),
    };
  return ofMembers(members);
}

/** Where no failed lookup was ever limited, a fair number of members will do. */
async function judgeSuccessesAlone(doors: Doors, known: Known): Promise<Played> {
  await doors.settle('user-status');
  return ofMembers(await sendMembers(doors, known, statedRule('user-status', known)?.most ?? 100));
}

function ofMembers({ trouble, refusal, passed, sent }: Burst): Played {
  if (trouble !== undefined) return { finding: unjudged(trouble.code, trouble.words) };
  if (refusal === undefined) return { finding: held, cases: sent };
  return {
    finding: failed(
      'status',
      '200, for members are no failed lookups',
      `429 after ${passed} lookups of members`,
    ),
    request: refusal.request,
    reply: refusal.answer,
    cases: sent,
  };
}

export const rateLimit: readonly Requirement[] = [
  ...endpointsOfSuite.map(message),
  scenario({
    id: 'rate-limit/user-status/failed-lookups',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Repeated failed lookups in a short window end in 429',
    reading:
      'Unknown users, invalid ids and bad keys are tried in turn: what counts as failed is not shown. Where the fixture states a threshold, more that pass fail it, and so do fewer, unless a bucket that is refilled steadily would explain them.',
    play: (doors, known) => judgeLimit('user-status', doors, known),
  }),
  scenario({
    id: 'rate-limit/user-status/spares-successes',
    level: 'recommended',
    clause: 'Limits: triggered by repeated failed lookups',
    title: 'Looking up members does not trigger the limiter',
    lacks: ({ members }) => (members.length === 0 ? 'user of the IB under test' : undefined),
    play: judgeSuccesses,
  }),
  scenario({
    id: 'rate-limit/deposit-check/requests',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Many requests end in 429',
    play: (doors, known) => judgeLimit('deposit-check', doors, known),
  }),
  ...endpointsOfSuite.flatMap((endpoint): readonly Requirement[] => [
    scenario({
      id: `rate-limit/${endpoint}/recovers`,
      level: 'recommended',
      clause: 'Errors, notes on 429: wait, with exponential back-off',
      title: 'After waiting the key works again',
      play: (doors, known) => judgeRecovery(endpoint, doors, known),
    }),
    ...observations(endpoint),
  ]),
];
