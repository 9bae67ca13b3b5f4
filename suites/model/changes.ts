import { endpoints } from '../../schemas/endpoints.ts';
import type { FixtureExecutedDeposit } from '../../schemas/generated/types.ts';
import type { Answer, Reply } from '../answer.ts';
import { fieldsOf } from '../expectations.ts';
import { authorizationOf } from '../facts-of-request.ts';
import type { FixtureDeposit, Known, KnownKey } from '../known.ts';
import type { Request } from '../request.ts';

/** What changes during a run: a deposit becomes EXECUTED, or a key is revoked. */
export type Change =
  | { readonly state: 'deposit executed'; readonly deposit: FixtureExecutedDeposit }
  | { readonly state: 'key revoked'; readonly key: KnownKey };

/** A step of a change, at a time in ms of the engine's clock. */
export type ChangeStep =
  /** It may be visible from now on. */
  | { readonly step: 'begins'; readonly at: number; readonly change: Change }
  /** From this time on, only the new state is right. */
  | { readonly step: 'is due'; readonly at: number }
  /** It may be undone from now on. What it changed is not judged any more. */
  | { readonly step: 'ends'; readonly at: number };

/** The times of a change. */
interface Timed {
  readonly change: Change;
  readonly begunAt: number;
  dueAt: number;
  endedAt: number;
}

type Numbered = readonly [number, Timed];

/** When a request was sent, and when its answer came. */
export interface Interval {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** The amount (USD) that state hooks write, and the end of their times, in ms. Seconds tell apart two runs. */
const [HOOK_AMOUNT, HOOK_MS] = [123.45, 123];

/** What a state hook writes, by a run that asks at `now` (Unix ms). */
export const executionAt = (now: number) => ({
  amountInUsd: HOOK_AMOUNT,
  // In the past. Whole milliseconds, because the clock has fractions.
  executedAt: (Math.floor(now / 1000) - 1) * 1000 + HOOK_MS,
});

/** Errors of time zones are multiples of this (ms). */
const QUARTER_MS = 900_000;

/**
 * Whether an answer shows what the state hook of another run wrote.
 *
 * @param own what this run wrote, if it did: a wrong time zone does not make it another's
 */
export function isOfOtherRun(answer: Answer, own?: { readonly executedAt: number }): boolean {
  const { amountInUsd, executedAt } = fieldsOf(answer) ?? {};
  return (
    amountInUsd === HOOK_AMOUNT &&
    typeof executedAt === 'number' &&
    executedAt % 1000 === HOOK_MS &&
    (own === undefined || (executedAt - own.executedAt) % QUARTER_MS !== 0)
  );
}

/** What is known while a change is made: at each time, the states that are right. */
export type Changes = ReturnType<typeof createChanges>;

/** @param fixture what is known before any change */
export function createChanges(fixture: Known) {
  const all = new Map<number, Timed>();
  const views = new Map<string, Known>();

  /** What is known after some changes, and before others. */
  const viewAfter = (some: readonly Numbered[], others: readonly Numbered[] = []): Known => {
    const name = `${some.map(([nth]) => nth).join()} ${others.map(([nth]) => nth).join()}`;
    const after = () => some.reduce((known, [, { change }]) => applied(change, known), fixture);
    const view = views.get(name) ?? others.reduce((known, [, { change }]) => before(change, known), after());
    views.set(name, view);
    return view;
  };
  const concerning = (request: Request) =>
    all.size === 0
      ? []
      : [...all].filter(([, { change }]) => relationTo(change, request, fixture) !== undefined);
  return {
    take: (nth: number, step: ChangeStep): void => {
      if (step.step === 'begins') {
        const { change, at } = step;
        all.set(nth, { change, begunAt: at, dueAt: Infinity, endedAt: Infinity });
        return;
      }
      const timed = all.get(nth)!;
      if (step.step === 'is due') timed.dueAt = step.at;
      else timed.endedAt = step.at;
    },
    /** The number of the next change. */
    next: (): number => all.size,
    /**
     * Whether a request is about something that changed, or that is changing.
     *
     * @param reply of the request: a change beside it concerns it only while that lasted
     */
    concerns: (request: Request, reply?: Reply): boolean =>
      concerning(request).some(
        ([, { change, begunAt, endedAt }]) =>
          relationTo(change, request, fixture) === 'itself' ||
          (reply?.kind === 'answer' && reply.receivedAt >= begunAt && reply.receivedAt <= endedAt),
      ),
    /** Whether an answer shows what the state hook of another run wrote, and not of this one. */
    isOfOtherRun: (answer: Answer): boolean =>
      isOfOtherRun(answer) &&
      [...all.values()].every(
        ({ change }) => change.state === 'key revoked' || isOfOtherRun(answer, change.deposit),
      ),
    /** Whether a key was revoked during this run: now, or also if that was undone. */
    wasRevoked: ({ key }: KnownKey, isNow = false): boolean =>
      all.size > 0 &&
      [...all.values()].some(
        ({ change, endedAt }) =>
          change.state === 'key revoked' && change.key.key === key && (!isNow || endedAt === Infinity),
      ),
    /**
     * What may be known at the time of an answer, the newest state first: two states while a change is under way.
     *
     * @returns undefined if a change was undone, so that nothing is known
     */
    viewsAt: (request: Request, { sentAt, receivedAt }: Interval): readonly Known[] | undefined => {
      const own = concerning(request).filter(([, { begunAt }]) => receivedAt >= begunAt);
      if (own.length === 0) return [fixture];
      const isUndone = ([, { change, endedAt }]: Numbered) =>
        receivedAt >= endedAt && relationTo(change, request, fixture) === 'itself';
      if (own.some(isUndone)) return undefined;
      const due = own.filter(([, { dueAt }]) => sentAt >= dueAt);
      if (due.length === own.length) return [viewAfter(own)];
      const underWay = own.filter((one) => !due.includes(one));
      return [viewAfter(own), viewAfter(due, underWay)];
    },
  };
}

/** Whether a request is about what changes itself. The other keys of a partner may stop working beside a revoked one. */
function relationTo(
  change: Change,
  { endpoint, target, credential }: Request,
  known: Known,
): 'itself' | 'beside' | undefined {
  if (change.state === 'key revoked') {
    const token = authorizationOf(credential, known.callerKeys[0])?.split(/\s+/).at(-1);
    const sent = known.everyKey.find(({ key }) => key === token);
    if (sent?.key === change.key.key) return 'itself';
    return sent?.partner === change.key.partner && sent.state === 'active' ? 'beside' : undefined;
  }
  if (endpoint !== 'deposit-check') return undefined;
  const { parameter } = endpoints[endpoint];
  const value = target.split(`${parameter}=`)[1] ?? '';
  const text = value.includes('%') ? readable(value) : value;
  const isNamed = text.toLowerCase().includes(change.deposit.reference_id.toLowerCase());
  return isNamed ? 'itself' : undefined;
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What is known before a change. A deposit that becomes EXECUTED by itself was pending. */
function before(change: Change, known: Known): Known {
  if (change.state === 'key revoked') return known;
  const { reference_id, user_id } = change.deposit;
  return withDeposit(known, { reference_id, user_id, state: 'pending' });
}

const withDeposit = (known: Known, deposit: FixtureDeposit): Known => ({
  ...known,
  depositById: new Map([...known.depositById, [deposit.reference_id.toLowerCase(), deposit]]),
});

function applied(change: Change, known: Known): Known {
  if (change.state === 'deposit executed') return withDeposit(known, change.deposit);
  const { key, partner } = change.key;
  return {
    ...known,
    everyKey: known.everyKey.map((one) => {
      if (one.key === key) return { ...one, state: 'revoked' };
      return one.partner === partner && one.state === 'active' ? { ...one, mayBeRefused: true } : one;
    }),
  };
}
