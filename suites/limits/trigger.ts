import { perEndpoint, countsFailures, type Endpoint } from '../../schemas/endpoints.ts';
import type { Asking, Bursts, Shared } from '../rules/scenario-context.ts';
import { failed, inconclusive, pass, type Verdict } from '../rules/verdict.ts';
import { whileLimited } from './limited.ts';
import { describeLimit, describeMs } from './limit.ts';
import { describeStream, outdoes, stream, type Stream } from './stream.ts';
import {
  createTrial,
  isBeyond,
  isOver,
  notCompared,
  obey,
  paceOf,
  quietBefore,
  rests,
  send,
  sendAtRest,
  windowOf,
  PROBES,
  type Trial,
} from './trial.ts';

/** The part of the rest of a run that may pass before a trial begins. */
const PART_OF_REST = 1 / 6;

/** Triggers the limiter of an endpoint. Done once per run. */
const trialOf = (endpoint: Endpoint): Shared<Trial, Asking & Bursts> => ({
  id: `limiter of ${endpoint}`,
  phase: 'last',
  make: async (context, known) => {
    const trial = await createTrial(endpoint, context, known);
    const quietMs = quietBefore(context.longestWindowMs(endpoint));
    await context.waitForQuiet(endpoint, Math.min(quietMs, PART_OF_REST * context.leftMs()));
    await (countsFailures(endpoint) ? tryUsers(trial) : tryDeposits(trial));
    trial.end = context.ended();
    return trial;
  },
});

export const trials = perEndpoint(trialOf);

async function tryUsers(trial: Trial): Promise<void> {
  const { supplies, verdicts, known } = trial;
  const members = known.members.length === 0 ? undefined : await tryMembers(trial);
  if (verdicts.has('limit')) return;
  const mix = await sendAtRest(trial, known.members.length === 0 ? supplies.unknown : supplies.mixed);
  if (isOver(trial, mix)) return;
  let by: Stream | undefined;
  if (mix.refusal !== undefined) {
    by = mix;
    const finding = mix.startsLimited ? notCompared(USED_UP, windowOf(trial)) : pass;
    verdicts.set('not-reset', finding).set('counts-unknown-users', finding);
    await whileLimited(trial, mix, supplies.unknown);
  } else by = await tryKinds(trial, mix);
  judgeMembers(trial, members, by);
  if (by !== undefined) await compareForeigners(trial, by);
}

/** Sends members only. Returns those that may show that members do not count. */
async function tryMembers(trial: Trial): Promise<Stream | undefined> {
  const { supplies, verdicts, stated } = trial;
  const set = (verdict: Verdict) => void verdicts.set('spares-successes', verdict);
  const first = await sendAtRest(trial, supplies.members);
  if (first.startsLimited) return set(notCompared(USED_UP, windowOf(trial)));
  if (isOver(trial, first) || first.refusal === undefined) return first;
  const actual = `429 after ${first.passed} lookups of members`;
  const fails = failed('status', '200, because a lookup of a member is not a failed lookup', actual);
  if (!(await obey(trial, supplies.members, first))) {
    // A few lookups of a member came before.
    const beyond = stated === undefined ? Infinity : first.passed - stated.most;
    const isAtLimit = beyond >= -PROBES && beyond <= 1;
    return set(isAtLimit ? fails : notCompared(`${actual}; others may use this limit`, windowOf(trial)));
  }
  const again = await send(trial, supplies.members);
  if (isOver(trial, again) || again.refusal === undefined) return again;
  if (!(await obey(trial, supplies.members, again)) || again.startsLimited)
    return set(notCompared(`${actual}; others may use this limit`));
  // A limiter that counts what is in flight would have refused one before so many passed.
  const isCounted = Math.min(first.passed, again.passed) > IN_FLIGHT_TIMES * paceOf(trial, 4).inFlight;
  const inFlight = Math.max(FEW, Math.floor((stated?.most ?? 0) / 4));
  const few = { ...paceOf(trial), most: Math.max(first.passed, again.passed) + PROBES, inFlight };
  const slow = isCounted ? again : await stream(trial.context, supplies.members, few);
  const atOnce = `${actual}, but only if more than ${inFlight} are in flight: is each counted until it is answered?`;
  set(slow.refusal === undefined ? notCompared(atOnce) : fails);
  if (slow.refusal !== undefined) await obey(trial, supplies.members, slow);
  return undefined;
}

/** More than so many times what is in flight. */
const IN_FLIGHT_TIMES = 2;

/** No limiter refuses so many lookups in flight, or a quarter of its limit, because none of them is answered yet. */
const FEW = 4;

const USED_UP = 'the limit was used up before';

/** Judges that members never count, by a stream of them and the one that triggered the limiter. */
function judgeMembers(trial: Trial, members: Stream | undefined, by: Stream | undefined): void {
  const { verdicts, stated } = trial;
  if (members === undefined || verdicts.has('spares-successes')) return;
  const isShown = stated === undefined ? by === undefined || outdoes(members, by) : isBeyond(trial, members);
  const slow = `${describeStream(members)}: too slow to reach the limit`;
  verdicts.set('spares-successes', isShown ? pass : notCompared(slow));
}

/** Sends one kind after the other, because a mixture with members passed. Returns what triggered the limiter. */
async function tryKinds(trial: Trial, mix: Stream): Promise<Stream | undefined> {
  const { supplies, verdicts, context, known, stated } = trial;
  // After it, a limiter that a success resets is at rest.
  if (known.members.length > 0) await context.burst(supplies.members.next());
  // A stated limit decides by itself.
  const unknown = await send(trial, supplies.unknown, stated === undefined ? mix : undefined);
  if (isOver(trial, unknown)) return undefined;
  if (unknown.refusal !== undefined) {
    verdicts.set('counts-unknown-users', pass);
    await whileLimited(trial, unknown, supplies.unknown);
    await judgeReset(trial, mix, unknown);
    return unknown;
  }
  verdicts.set('not-reset', inconclusive('depends', 'not checked because unknown users did not get 429'));
  const malformed = await send(trial, supplies.malformed, stated === undefined ? unknown : undefined);
  if (isOver(trial, malformed)) return undefined;
  if (malformed.refusal !== undefined) {
    const isShown = isBeyond(trial, unknown) || outdoes(unknown, malformed);
    const expected = '429 after as many lookups of unknown users as of malformed ids';
    const actual = `${unknown.passed} unknown users passed, then 429 after ${malformed.passed} malformed ids: unknown users never count: only malformed ids do`;
    verdicts.set(
      'counts-unknown-users',
      isShown
        ? failed('status', expected, actual)
        : notCompared('malformed ids got 429, unknown users passed at another pace'),
    );
    await whileLimited(trial, malformed, supplies.malformed);
    return malformed;
  }
  const wrongKeys = await send(trial, supplies.wrongKeys);
  if (isOver(trial, wrongKeys)) return undefined;
  if (wrongKeys.refusal === undefined) judgeAbsence(trial, [unknown, malformed, wrongKeys]);
  else await whileLimited(trial, wrongKeys, supplies.wrongKeys);
  return wrongKeys.refusal === undefined ? undefined : wrongKeys;
}

/** Judges that a success does not reset the count: a mixture with members passed, unknown users alone got 429. */
async function judgeReset(trial: Trial, mix: Stream, unknown: Stream): Promise<void> {
  const { supplies, verdicts, stated } = trial;
  const fails = () => {
    const actual = `${mix.failures} failed lookups passed with members between them, but 429 came after ${unknown.failures} without: a successful lookup resets the count`;
    verdicts.set(
      'not-reset',
      failed('status', '429 to repeated failed lookups, with or without successful ones', actual),
    );
  };
  const open = (why: string) => verdicts.set('not-reset', notCompared(why));
  if (unknown.startsLimited) return void open(USED_UP);
  const passed = (one: Stream) => {
    open('the stated limit is not that of the target');
    verdicts.set('limit', tooMany(trial, one.failures));
  };
  if (!(await rests(trial))) {
    if (!isBeyond(trial, mix)) return void open('a second comparison takes too long');
    const ratio = unknown.failures / stated!.most;
    if (ratio >= 1 && ratio <= 1.5) fails();
    // A limiter that a success resets lets as many pass as stated.
    else if (ratio < 0.5 || ratio > 1.5) passed(mix);
    else open('the answers fit no limit');
    return;
  }
  const again = await send(trial, supplies.unknown, stated === undefined ? mix : undefined);
  if (isBeyond(trial, again)) return passed(again);
  if (again.refusal === undefined || !(await obey(trial, supplies.unknown, again)))
    return void open('unknown users got 429 once');
  if (isBeyond(trial, mix)) return fails();
  if (!(await rests(trial))) return void open('a second comparison takes too long');
  const mixed = await send(trial, supplies.mixed);
  if (mixed.refusal !== undefined) verdicts.set('not-reset', pass);
  else if (outdoes(mixed, again)) fails();
  else open('failed lookups passed at another pace');
}

const tooMany = ({ stated, endpoint }: Trial, passed: number): Verdict => {
  const what = countsFailures(endpoint) ? 'failed lookups' : 'requests';
  return failed(
    'status',
    `429 before more than ${2 * stated!.most} ${what} pass in ${describeMs(stated!.windowMs)}: the fixture states ${describeLimit(stated!)}`,
    `${passed} passed, stated ${stated!.most}: do several instances each count alone, or is the statement wrong?`,
  );
};

/** Judges that no 429 came, after all kinds of requests that may trigger the limiter. */
function judgeAbsence(trial: Trial, tried: readonly Stream[]): void {
  const { verdicts, stated } = trial;
  const words = `no 429 after ${tried.map(describeStream).join(', ')}`;
  const delays = trial.streams.some(({ slowdown }) => slowdown > 4)
    ? ': answers came later and later instead of a 429: does the limiter delay?'
    : '';
  if (stated === undefined) verdicts.set('limit', inconclusive('limit-not-reached', `${words}${delays}`));
  else if (tried.every((one) => isBeyond(trial, one))) {
    const { expected } = tooMany(trial, 0) as Extract<Verdict, { kind: 'failed' }>;
    const cause = `stated ${stated.most}: is the statement wrong, or do several instances each count alone?`;
    verdicts.set('limit', failed('status', expected, `${words}, ${cause}`));
  } else
    verdicts.set(
      'limit',
      inconclusive('timing-window', `${words}${delays || ': too slow to reach the limit'}`),
    );
}

async function tryDeposits(trial: Trial): Promise<void> {
  const { supplies } = trial;
  const one = await sendAtRest(trial, supplies.unknown);
  if (isOver(trial, one)) return;
  if (one.refusal === undefined) judgeAbsence(trial, [one]);
  else await whileLimited(trial, one, supplies.unknown);
}

/** A difference counts if it is seen so often, in so many comparisons: a busy machine disturbs one. */
const [SHOWN, MAX_COMPARISONS] = [2, 4];

/** Judges that users of other IBs count where unknown ones do: otherwise the limiter tells them apart. */
async function compareForeigners(trial: Trial, by: Stream): Promise<void> {
  const { supplies, verdicts, known } = trial;
  const row = 'counts-foreign-users';
  if (known.foreigners.length === 0) return;
  if (verdicts.get('counts-unknown-users')?.kind !== 'passed')
    return void verdicts.set(
      row,
      inconclusive('depends', 'not checked because unknown users were not seen to count'),
    );
  verdicts.set(row, notCompared('the pauses after a 429 are too long for it', 10 * windowOf(trial)));
  let words = '';
  for (let [nth, shown] = [0, 0]; shown < SHOWN; nth++) {
    if (nth === MAX_COMPARISONS || !(await rests(trial))) return;
    const unknown = await send(trial, supplies.fewUnknown, by);
    verdicts.set(row, notCompared('unknown users got no 429 again'));
    if (unknown.refusal === undefined) continue;
    if (!(await obey(trial, supplies.fewUnknown, unknown)) || !(await rests(trial))) return;
    const foreign = await send(trial, supplies.foreign);
    if (foreign.refusal !== undefined) {
      await obey(trial, supplies.foreign, foreign);
      return void verdicts.set(row, pass);
    }
    verdicts.set(row, notCompared('users of other IBs passed at another pace'));
    if (!outdoes(foreign, unknown)) continue;
    shown++;
    verdicts.set(row, notCompared('a second comparison takes too long'));
    words = `429 after ${unknown.passed} unknown users, but not after ${foreign.passed} users of other IBs: users of other IBs do not count: this tells them from unknown ones`;
  }
  verdicts.set(row, failed('status', '429 to users of other IBs where unknown ones get it', words));
}
