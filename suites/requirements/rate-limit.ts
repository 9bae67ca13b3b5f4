import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { TriedStream } from '../../schemas/generated/types.ts';
import { summary } from '../answer.ts';
import { expectError, isLimiterAnswer } from '../rules/expectations.ts';
import { isLookup } from '../request.ts';
import {
  monitor,
  scenario,
  type Requirement,
  type Scenario,
  type ScenarioResult,
} from '../rules/requirement.ts';
import {
  atTheEnd,
  failed,
  pass,
  observed,
  inconclusive,
  unanswered,
  type Observation,
  type Verdict,
} from '../rules/verdict.ts';
import { describeLimit, describeMs } from '../limits/limit.ts';
import { notCompared, type Judged, type Limited, type Trial } from '../limits/trial.ts';
import type { Stream } from '../limits/stream.ts';
import { trials } from '../limits/trigger.ts';

type Judge = (trial: Trial) => ScenarioResult;

const notReached = inconclusive('limit-not-reached', 'not checked because no 429 came');

/** Takes a verdict of the trial, or says why there is none. */
const judged =
  (row: Judged): Judge =>
  (trial) => {
    const { verdicts, limited, streams } = trial;
    const finding = verdicts.get(row) ?? whyOpen(trial);
    const cases = streams.reduce((sum, { sent }) => sum + sent, 0);
    const instead = streams.find((one) => one.instead !== undefined)?.instead;
    const shown =
      row === 'limit' ? (instead ?? limited?.refusal) : streams.find((one) => one.refusal)?.refusal;
    return {
      finding,
      cases,
      ...shown,
      ...(row === 'limit' && { trial: streams.map((one) => tried(trial, one)) }),
    };
  };

/** A stream for the record, with the number of requests after which 429 is stated. */
const tried = ({ stated }: Trial, { kind, answers, counted }: Stream): TriedStream => ({
  kind,
  ...(stated && counted > 0 && { limitAt: stated.most / counted }),
  answers: [...answers],
});

/** Why the trial did not judge a row. */
function whyOpen({ verdicts, limited, end }: Trial): Verdict {
  const limit = verdicts.get('limit');
  if (end !== undefined && limit?.kind !== 'failed' && limited === undefined) return unanswered(end);
  if (limit?.kind === 'failed') return inconclusive('depends', 'not checked because no 429 came');
  if (limited !== undefined) return notCompared('no other requests got 429');
  return limit?.kind === 'inconclusive' && limit.reason !== 'limit-not-reached' ? limit : notReached;
}

/** A judge of a limiter that has answered 429. */
const onceLimited =
  (judge: (limited: Limited, trial: Trial) => ScenarioResult, otherwise?: ScenarioResult['finding']): Judge =>
  (trial) =>
    trial.limited === undefined ? { finding: otherwise ?? whyOpen(trial) } : judge(trial.limited, trial);

/** Judges that the key works again after the wait. */
const judgeRecovery = onceLimited(({ recovery, quietMs, decidingMs, refusal }) => {
  if (recovery.kind === 'answer') return { finding: pass, cases: 1 };
  const { code, words } = recovery;
  if (code !== 'rate-limited') return { finding: inconclusive(code, words), ...refusal };
  const expected = `no 429 after ${describeMs(decidingMs)} in which nothing was sent`;
  const finding = quietMs >= decidingMs ? failed('status', expected, words) : notCompared(words, decidingMs);
  return { finding, ...refusal };
});

/** Judges that a limited key stays limited if the request is written in another way. */
const judgeWaysAround = onceLimited(({ isLimited, around, cases }) => {
  if (around === undefined) {
    const words = 'the limit ended before other forms were tried';
    return { finding: isLimited ? pass : inconclusive('timing-window', words), cases };
  }
  const { form, request, reply } = around;
  const expected = `429, or a refusal of the form (${form}), while the plain request gets 429`;
  return {
    finding: failed('status', expected, reply.kind === 'answer' ? summary(reply) : reply.words),
    request,
    reply,
    cases,
  };
});

/** Judges that one partner does not use up the limit of another. */
function judgeSharing(trial: Trial): ScenarioResult {
  const { known, strangers } = trial;
  const isStated = known.limits.scope === 'address';
  const words = 'the fixture states that all callers of an address are limited together';
  if (isStated) return { finding: { kind: 'excluded', reason: 'skipped', words } };
  return onceLimited(({ stranger, isStrangerFreed }) => {
    const isBefore = strangers.some((one) => one.kind === 'answer' && one.status === 429);
    if (isBefore) return { finding: notCompared('the key of another partner was limited before') };
    if (stranger === undefined)
      return { finding: inconclusive('timing-window', 'the limit ended before another partner asked') };
    const { reply } = stranger;
    if (reply.kind !== 'answer') return { finding: unanswered(reply) };
    const expected = 'another status than 429 for a key of another partner';
    const isShared = reply.status === 429;
    if (isShared && !isStrangerFreed)
      return { finding: notCompared('the key of another partner stayed limited') };
    return { finding: isShared ? failed('status', expected, summary(reply)) : pass, cases: 1, ...stranger };
  })(trial);
}

type LimitText = Pick<Scenario, 'level' | 'clause' | 'title' | 'reading' | 'needs'> & {
  readonly name: string;
  readonly judge: Judge;
};

/** Uses up the limit of an endpoint, once for all rows: they come last. */
const rowOf = (endpoint: Endpoint, { name, judge, ...row }: LimitText): Requirement =>
  scenario({
    ...row,
    id: `rate-limit/${endpoint}/${name}`,
    endpoint,
    phase: 'last',
    run: async ({ once }, known) => {
      const trial = await once(trials[endpoint], known);
      const result = judge(trial);
      return { ...result, finding: atTheEnd(result.finding, trial.end) };
    },
  });

/** Records what a run saw where the interface is silent. */
const observation = (
  name: string,
  title: string,
  show: (limited: Limited, trial: Trial) => Observation,
): LimitText => ({
  name,
  level: 'observed',
  clause: 'Left open: limits',
  title,
  judge: onceLimited((limited, trial) => ({ finding: show(limited, trial) }), observed('no 429 came')),
});

/** After how many requests 429 came, what is stated, which kinds count, and which other keys were limited. */
function thresholdOf({ by, others }: Limited, { streams, stated }: Trial): Observation {
  const spared = [...new Set(streams.filter((one) => one.refusal === undefined).map(({ kind }) => kind))];
  const instances =
    stated !== undefined && by.failures >= 1.5 * stated.most
      ? ': do several instances each count alone?'
      : '';
  const keys = Object.entries(others).map(
    ([key, is]) => `${key} is ${is ? 'rate-limited too' : 'not rate-limited'}`,
  );
  const words = [
    `${by.failures} passed before the first 429 (${by.kind}); earlier lookups may count too`,
    ...(stated === undefined ? [] : [`the fixture states ${describeLimit(stated)}${instances}`]),
    ...(spared.length === 0 ? [] : [`no 429 to ${spared.join(', ')}`]),
    ...keys,
  ];
  return observed(words.join('; '), { kind: by.kind, passed: by.failures, spared, others });
}

/** Rows about the limiters of both endpoints. */
const rows: readonly LimitText[] = [
  {
    name: 'recovers',
    level: 'recommended',
    clause: 'Errors: waiting after 429',
    title: 'A rate-limited key works again after waiting',
    judge: judgeRecovery,
  },
  {
    name: 'no-way-around',
    level: 'recommended',
    clause: 'Limits: both endpoints',
    title: 'A rate-limited key stays limited if the request is written in another way',
    reading: 'A redirect or an error refuses such a form, which is right too.',
    judge: judgeWaysAround,
  },
  {
    name: 'not-shared',
    level: 'recommended',
    clause: 'Limits: both endpoints; Service: own IB only',
    title: 'While a key is rate-limited, a key of another partner is not',
    reading:
      'One partner must not lock out the others. A small service may limit all callers of an address together: then state "scope": "address".',
    needs: [['user-status', { key: "another partner's" }]],
    judge: judgeSharing,
  },
  observation('retry-after', 'Which rate limit headers a 429 has', ({ refusal }) => {
    const fields = Object.entries(refusal.reply.headers).filter(([name]) => /retry|limit/i.test(name));
    const values = Object.fromEntries(fields.map(([name, all]) => [name, all.join(', ')]));
    return observed(
      Object.entries(values)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ') || 'none',
      values,
    );
  }),
  observation('threshold', 'After how many requests 429 comes', thresholdOf),
];

function message(endpoint: Endpoint): Requirement {
  const limited = expectError(endpoint, 429);
  return monitor({
    id: `rate-limit/${endpoint}/message`,
    level: 'required',
    clause: `Errors: exact messages; GET ${endpoint}, 429`,
    title: 'Every 429 has the exact error body of its endpoint',
    ifUnseen: notReached,
    // The interface has no messages for other requests.
    judge: (request, answer) =>
      request.endpoint === endpoint && isLookup(request) && isLimiterAnswer(endpoint, answer)
        ? limited(answer)
        : undefined,
  });
}

export const rateLimit: readonly Requirement[] = [
  ...endpointNames.map(message),
  rowOf('user-status', {
    name: 'failed-lookups',
    level: 'required',
    clause: 'Limits: failed lookups; GET user-status, 429',
    title: 'Repeated failed lookups in a short time get 429',
    reading:
      'The interface does not say what counts as failed, nor how many may pass, so unknown users, malformed ids and wrong keys are tried in turn. If the fixture states a limit, a 429 must come before more than twice as many of each have passed in one window: no kind of limiter allows that.',
    judge: judged('limit'),
  }),
  rowOf('user-status', {
    name: 'spares-successes',
    level: 'required',
    clause: 'Limits: failed lookups',
    title: 'Lookups of users under the IB do not trigger the rate limit',
    reading:
      'A lookup that finds a user is not a failed one, so it neither counts nor leads to a 429 by itself.',
    needs: [['user-status', { situation: 'own' }]],
    judge: judged('spares-successes'),
  }),
  rowOf('user-status', {
    name: 'counts-unknown-users',
    level: 'recommended',
    clause: 'Limits: failed lookups',
    title: 'Lookups of users that are not found count as failed',
    reading:
      'A lookup that is answered is_under_ib false has failed. Another reading: only errors such as 400 are failures. Then a caller may try out ids without a limit.',
    judge: judged('counts-unknown-users'),
  }),
  rowOf('user-status', {
    name: 'not-reset',
    level: 'recommended',
    clause: 'Limits: failed lookups',
    title: 'A successful lookup does not reset the count of failed ones',
    reading:
      'Failed lookups are repeated in a window, whatever comes between them. Another reading: they must follow each other. Then a caller who knows one user of its IB is never limited.',
    needs: [['user-status', { situation: 'own' }]],
    judge: judged('not-reset'),
  }),
  rowOf('user-status', {
    name: 'counts-foreign-users',
    level: 'recommended',
    clause: 'Service: own IB only; Limits: failed lookups',
    title: 'Lookups of users of other IBs count where those of unknown users do',
    reading:
      'A user of another IB is answered like an unknown one. Another reading: only unknown ids are failed lookups. Then the limiter tells who exists.',
    needs: [['user-status', { situation: "another partner's" }]],
    judge: judged('counts-foreign-users'),
  }),
  rowOf('deposit-check', {
    name: 'requests',
    level: 'required',
    clause: 'Limits: both endpoints; GET deposit-check, 429',
    title: 'Many requests in a short time get 429',
    reading:
      'The interface does not say how many may pass. If the fixture states a limit, a 429 must come before more than twice as many have passed in one window: no kind of limiter allows that.',
    judge: judged('limit'),
  }),
  ...endpointNames.flatMap((endpoint) => rows.map((row) => rowOf(endpoint, row))),
];
