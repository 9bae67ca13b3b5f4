import type { Endpoint } from '../schemas/endpoints.ts';
import { header } from './answer.ts';
import { errorAnswer } from './expectations.ts';
import type { Known } from './known.ts';
import {
  asCaller,
  burst,
  explore,
  MOST_WITHOUT_THRESHOLD,
  statedLimit,
  type Burst,
  type Exploration,
  type Kind,
  type Stated,
} from './limiter.ts';
import { userStatus } from './request.ts';
import type { Doors, Played, Requirement, Watch } from './requirement.ts';
import { observing, scenario } from './scenario.ts';
import { depends, failed, held, observed, unjudged, type Verdict } from './verdict.ts';

const endpointsOfSuite = ['user-status', 'deposit-check'] as const;

/** Whether the limiter set in, as far as the fixture lets one expect it. */
async function judgeLimit(endpoint: Endpoint, doors: Doors, known: Known): Promise<Played> {
  const { bursts, limited } = await explore(endpoint, doors, known);
  const cases = bursts.reduce((sum, { sent }) => sum + sent, 0);
  if (limited !== undefined) return { finding: held, cases };
  if (doors.keyWorks() === false)
    return {
      finding: unjudged('key-refused', 'the target answers every request of the key under test with 401'),
      cases,
    };
  const stated = statedLimit(endpoint, known);
  const { trouble, passed } = bursts.at(-1)!;
  // A connection that breaks just where 429 is due is no accident; anywhere else it tells nothing.
  const isInstead = trouble?.code === 'network' && stated !== undefined && passed >= stated.threshold;
  if (trouble !== undefined && !isInstead) return { finding: unjudged(trouble.code, trouble.words), cases };
  return { finding: withoutLimit(bursts, stated), cases };
}

function withoutLimit(bursts: readonly Burst[], stated: Stated | undefined): Verdict {
  const end = bursts.at(-1)!.trouble;
  const tried = bursts
    .map(({ kind, sent, elapsedMs }) => `${sent} requests (${kind}) in ${(elapsedMs / 1000).toFixed(2)} s`)
    .join(', ');
  if (stated === undefined)
    return unjudged(
      'limit-not-reached',
      `no 429 after ${tried}; state the threshold in the fixture's limits to have it judged`,
    );
  const windowSeconds = stated.windowMs / 1000;
  // Twice the threshold and more within one window: whichever way windows are laid, one of them holds more than the threshold.
  return bursts.every(({ elapsedMs }) => elapsedMs < stated.windowMs)
    ? failed(
        'status',
        `429 after ${stated.threshold} in ${windowSeconds} s, as the fixture states`,
        `no 429 after ${tried}${end === undefined ? '' : `: ${end.words}`}`,
      )
    : unjudged(
        'timing-window',
        `no 429 after ${tried}, but the window of ${windowSeconds} s ended meanwhile: the target is too slow to fill it`,
      );
}

/** The key works again, once one has waited. */
async function judgeRecovery(endpoint: Endpoint, doors: Doors, known: Known): Promise<Played> {
  const { limited, recovery } = await explore(endpoint, doors, known);
  if (limited === undefined) return { finding: unjudged('limit-not-reached', 'the limiter never set in') };
  if (recovery?.kind === 'answer') return { finding: held, cases: 1 };
  const words = recovery?.words ?? 'no answer';
  const stated = statedLimit(endpoint, known);
  const stillLimited = recovery?.code === 'rate-limited' && stated !== undefined;
  return {
    finding: stillLimited
      ? failed('status', `no 429 any more, ${stated.windowMs / 1000} s after the last one`, words)
      : unjudged(recovery?.code ?? 'network', words),
    ...limited.limited,
    reply: limited.limited.answer,
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
      request.endpoint === endpoint && answer.status === 429 ? limited(answer) : undefined,
  };
}

/** What is recorded of an endpoint's limiter, where the interface shows nothing. */
function observations(endpoint: Endpoint): readonly Requirement[] {
  const clause = 'Limits: not shown';
  const afterLimit = (
    name: string,
    title: string,
    words: (
      found: Exploration & { limited: NonNullable<Exploration['limited']> },
    ) => ReturnType<typeof observed>,
  ) =>
    observing({
      id: `rate-limit/${endpoint}/${name}`,
      clause,
      title,
      play: async (doors, known) => {
        const found = await explore(endpoint, doors, known);
        return found.limited === undefined
          ? observed('the limiter did not set in')
          : words({ ...found, limited: found.limited });
      },
    });
  return [
    afterLimit('retry-after', 'Retry-After and other headers of a 429', ({ limited: { limited } }) => {
      const names = Object.keys(limited.answer.headers).filter((name) => /retry|limit/i.test(name));
      const fields = Object.fromEntries(names.map((name) => [name, header(limited.answer, name)]));
      return observed(
        names.length === 0 ? 'none' : names.map((name) => `${name}: ${fields[name]}`).join(', '),
        fields,
      );
    }),
    afterLimit('threshold', 'Where the limiter set in', ({ limited: { kind, passed } }) =>
      observed(`after ${passed} requests (${kind})`, { kind, passed }),
    ),
    afterLimit('window', 'When the limiter let go', ({ limited: { elapsedMs }, recovery, recoveryMs }) =>
      recovery?.kind === 'answer'
        ? observed(`at most ${((elapsedMs + recoveryMs) / 1000).toFixed(1)} s after its first request`, {
            elapsedMs,
            recoveryMs,
          })
        : observed(`not within ${(recoveryMs / 1000).toFixed(1)} s`, { elapsedMs, recoveryMs }),
    ),
    afterLimit('scope', 'Whom else the limiter limits', ({ others }) => {
      const words = Object.entries(others).map(
        ([name, isLimited]) => `${name} ${isLimited ? 'is limited too' : 'is not limited'}`,
      );
      return observed(words.length === 0 ? 'no other key to ask with' : words.join(', '), others);
    }),
  ];
}

/** Looking up members is no failed lookup, however often it is done. */
async function judgeSuccesses(doors: Doors, known: Known): Promise<Played> {
  const { limited, recovery } = await explore('user-status', doors, known);
  if (limited !== undefined && recovery?.kind !== 'answer')
    return { finding: depends('rate-limit/user-status/recovers') };
  const threshold = statedLimit('user-status', known)?.threshold ?? limited?.passed ?? 100;
  await doors.settle('user-status');
  const count = Math.min(2 * threshold + 2, MOST_WITHOUT_THRESHOLD);
  const lookups: Kind = {
    name: 'members',
    make: () =>
      Array.from({ length: count }, (_, n) =>
        asCaller(known, userStatus(known.members[n % known.members.length]!.user_id)),
      ),
  };
  const result = await burst(lookups, known, doors, count);
  if (result.trouble !== undefined) return { finding: unjudged(result.trouble.code, result.trouble.words) };
  if (result.limited === undefined) return { finding: held, cases: count };
  const { request, answer } = result.limited;
  await doors.send(request);
  return {
    finding: failed(
      'status',
      '200, for members are no failed lookups',
      `429 after ${result.passed} lookups of members`,
    ),
    request,
    reply: answer,
    cases: count,
  };
}

export const rateLimit: readonly Requirement[] = [
  ...endpointsOfSuite.map(message),
  scenario({
    id: 'rate-limit/user-status/failed-lookups',
    level: 'required',
    clause: 'Limits; Errors, 429',
    title: 'Repeated failed lookups in a short window end in 429',
    reading: 'Unknown users, invalid ids and bad keys are tried in turn: what counts as failed is not shown.',
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
