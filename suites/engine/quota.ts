import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { header, trouble, type Answer, type Trouble } from '../answer.ts';
import { statedLimit, type RateLimit } from '../limiter/limit.ts';
import type { Budget } from './budget.ts';
import { inferLimit, type InferredLimit, type RefusalPeriod } from './infer-limit.ts';
import { PRECISION_MS, requestedWaitMs } from './retry-after.ts';
import type { RunOptions } from './run-options.ts';

/** Maximum sum of consecutive waits for a limiter, in ms. */
const MAX_WAIT_MS = 3_600_000;

/** The same for requests that measure how long a limit lasts. */
const MAX_PATIENT_WAIT_MS = 86_400_000;

/** First and longest back-off, in ms. It doubles each time, up to this or a quarter of the time waited. */
const [MIN_BACK_OFF_MS, MAX_BACK_OFF_MS] = [500, 10_000];

/** Added to the end of a window, in ms, because clocks round. */
const MARGIN_MS = 20;

const LIMITED_UNTIL_END = 'the key is rate-limited until after the end of --max-duration';

/** State of one key on one endpoint: counted requests, and whether it is rate-limited. */
type Account = ReturnType<typeof newAccount>;

const newAccount = (limiter: Limiter, key: string) => ({
  limiter,
  key,
  inFlight: 0,
  /** Send times of the latest counted requests that passed. Only used without a stated limit. */
  passes: [] as number[],
  /** When each counted request leaves the window, ascending. */
  expiries: [] as number[],
  blockedUntil: 0,
  refusedAt: 0,
  /** Time waited since the last answer other than 429, in ms. */
  waitedMs: 0,
  retries: 0,
  /** Whether a probe is in flight that tests if the limit has ended. */
  isProbing: false,
  /** Why waiting was given up. */
  gaveUp: undefined as string | undefined,
});

/** Which requests a limiter counts together. */
type Scope = 'key' | 'endpoint' | 'service';

/** The limiter of an endpoint, stated or learned from 429s. */
interface Limiter {
  readonly stated: RateLimit | undefined;
  readonly accounts: Map<string, Account>;
  lastAnswerAt: number;
  /** The latest refusals that ended. */
  refusals: readonly EndedRefusal[];
  /** The limit that explains these refusals. */
  learned?: RateLimit;
  scope: Scope;
  /** Refusals that it does not explain: other requests count too, or other clients use the key. */
  unexplained: number;
}

/** A key that was refused. */
type EndedRefusal = Omit<RefusalPeriod, 'passes'> & { readonly account: Account };

const [MAX_REFUSALS, MAX_PASSES] = [8, 4000];

/** After so many unexplained refusals, requests are no longer counted: only a 429 makes them wait. */
const MAX_UNEXPLAINED = 5;

/** A wider scope must fit better by at least this much. */
const MIN_FIT_GAIN = 0.1;

export interface QuotaOptions extends Pick<RunOptions, 'clock' | 'random' | 'signal'> {
  readonly budget: Budget;
  readonly limits: FixtureLimits;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
}

export type Quota = ReturnType<typeof createQuota>;

/**
 * Keeps requests below the limits that the fixture states or that 429s revealed, so that no check meets an
 * unexpected 429. After a 429, holds back the key until the limit ends.
 *
 * A request counts from its sending until one window after its answer. So the threshold is not crossed, whatever the
 * latency, with fixed and with sliding windows.
 */
export function createQuota({ clock, budget, limits, deadline, random, signal }: QuotaOptions) {
  const limiterOf = (endpoint: Endpoint): Limiter => ({
    stated: statedLimit(endpoint, { limits }),
    accounts: new Map(),
    lastAnswerAt: Number.NEGATIVE_INFINITY,
    refusals: [],
    scope: 'key',
    unexplained: 0,
  });
  const limiters = Object.fromEntries(endpointNames.map((name) => [name, limiterOf(name)])) as Readonly<
    Record<Endpoint, Limiter>
  >;
  const waiters = new Set<() => void>();
  let waitedMs = 0;
  let waitedUntil = 0;

  const accountOf = (endpoint: Endpoint, key: string): Account => {
    const limiter = limiters[endpoint];
    const account = limiter.accounts.get(key) ?? newAccount(limiter, key);
    limiter.accounts.set(key, account);
    return account;
  };

  /** Only issued keys have a limit. The empty key stands for all other requests. */
  const limitFor = ({ limiter, key }: Account) => (key === '' ? undefined : limitOf(limiter));

  const accountsIn = (account: Account, scope: Scope): readonly Account[] => {
    if (scope === 'key') return [account];
    const all = scope === 'endpoint' ? [account.limiter] : Object.values(limiters);
    return all.flatMap(({ accounts }) => [...accounts.values()]).filter(({ key }) => key !== '');
  };

  /**
   * When a window that is full has room again; 0 if it is not full. One request is reserved: at the threshold, a
   * limiter refuses free requests too.
   */
  const fullUntil = (account: Account, cost: 0 | 1): number => {
    const limit = limitFor(account);
    if (limit === undefined) return 0;
    const now = clock.now();
    let spent = 0;
    let release = Number.POSITIVE_INFINITY;
    for (const { expiries, inFlight } of accountsIn(account, account.limiter.scope)) {
      while (expiries.length > 0 && expiries[0]! <= now) expiries.shift();
      spent += inFlight + expiries.length;
      release = Math.min(release, expiries[0] ?? release);
    }
    return spent >= (cost === 0 ? limit.most : Math.max(1, limit.most - 1)) ? release : 0;
  };

  /** When a request may be sent: 0 for now, Infinity if that depends on a reply. */
  const allowedAt = (account: Account, cost: 0 | 1): number => {
    if (clock.now() < account.blockedUntil) return account.blockedUntil;
    return account.isProbing ? Number.POSITIVE_INFINITY : fullUntil(account, cost);
  };

  /** Waits until a request may be sent, at most until `until` (ms). Returns trouble if it may not be sent. */
  const admit = async (
    endpoint: Endpoint,
    key: string,
    cost: 0 | 1,
    until?: number,
  ): Promise<Trouble | undefined> => {
    const account = accountOf(endpoint, key);
    for (;;) {
      const end = budget.ended(until);
      if (end !== undefined) return end;
      if (account.gaveUp !== undefined) return trouble('rate-limited', account.gaveUp);
      const at = allowedAt(account, cost);
      if (at === 0) break;
      if (at === Number.POSITIVE_INFINITY) await new Promise<void>((resolve) => waiters.add(resolve));
      else if (at < Math.min(until ?? deadline, deadline)) await clock.sleep(at - clock.now(), signal);
      // Fail at once instead of a wait that cannot succeed.
      else return trouble('rate-limited', LIMITED_UNTIL_END);
    }
    account.isProbing = account.retries > 0;
    account.inFlight += cost;
    return undefined;
  };

  /** Records the reply to a request, admitted or not. */
  const record = (
    endpoint: Endpoint,
    key: string,
    cost: 0 | 1,
    reply: Answer | undefined,
    wasAdmitted: boolean,
    isPatient = false,
  ): void => {
    const account = accountOf(endpoint, key);
    account.limiter.lastAnswerAt = clock.now();
    if (wasAdmitted) account.inFlight -= cost;
    // A request sent before the 429 that passed does not show that the limit has ended.
    const wasInFlight = account.retries > 0 && reply !== undefined && reply.sentAt < account.blockedUntil;
    if (!wasInFlight) account.isProbing = false;
    if (reply?.status === 429) {
      if (wasAdmitted) block(account, reply, isPatient ? MAX_PATIENT_WAIT_MS : MAX_WAIT_MS);
    } else {
      if (reply !== undefined && wasAdmitted && !wasInFlight) unblock(account, reply);
      if (cost > 0) count(account, reply);
    }
    for (const wake of waiters) wake();
    waiters.clear();
  };

  /** The server may have counted a lost request. */
  const count = (account: Account, reply: Answer | undefined) => {
    const windowMs = limitFor(account)?.windowMs;
    if (windowMs !== undefined)
      account.expiries.push((reply?.receivedAt ?? clock.now()) + windowMs + MARGIN_MS);
    if (reply === undefined || account.key === '' || account.limiter.stated !== undefined) return;
    account.passes.push(reply.sentAt);
    if (account.passes.length > 2 * MAX_PASSES) account.passes = account.passes.slice(-MAX_PASSES);
  };

  const unblock = (account: Account, { sentAt }: Answer) => {
    if (account.retries > 0) {
      // Retry-After is rounded up to whole seconds.
      const least = account.retries > 1 ? 0 : account.blockedUntil - MARGIN_MS - PRECISION_MS;
      learn(account, Math.max(account.refusedAt, least), sentAt);
    }
    account.retries = 0;
    account.waitedMs = 0;
  };

  /** The end of the limit (between `least` and `most`) gives the window. The passes before it give the threshold. */
  const learn = (account: Account, least: number, most: number) => {
    if (!account.passes.some((at) => at < most)) return;
    const { limiter } = account;
    limiter.refusals = [...limiter.refusals, { account, least, most }].slice(-MAX_REFUSALS);
    let best: InferredLimit | undefined;
    for (const scope of ['key', 'endpoint', 'service'] as const) {
      const found = inferLimit(
        limiter.refusals.map((refusal) => ({
          ...refusal,
          passes: accountsIn(refusal.account, scope).flatMap(({ passes }) => passes),
        })),
      );
      if (found === undefined || (best !== undefined && found.fit < best.fit + MIN_FIT_GAIN)) continue;
      best = found;
      limiter.scope = scope;
    }
    if (best === undefined) return;
    const { windowMs } = best;
    limiter.learned = {
      windowMs,
      most: limiter.unexplained < MAX_UNEXPLAINED ? best.most : Number.POSITIVE_INFINITY,
    };
    // Count earlier requests by the new limit.
    for (const one of accountsIn(account, limiter.scope === 'key' ? 'endpoint' : limiter.scope))
      one.expiries = one.passes.map((sentAt) => sentAt + windowMs + MARGIN_MS).toSorted((a, b) => a - b);
  };

  const block = (account: Account, answer: Answer, patience: number) => {
    // Requests in flight at the first 429 show nothing new.
    if (answer.sentAt < account.blockedUntil) return;
    const now = clock.now();
    account.refusedAt = answer.sentAt;
    const { limiter } = account;
    if (account.retries === 0 && limiter.learned !== undefined && fullUntil(account, 1) === 0)
      limiter.unexplained++;
    const asked = requestedWaitMs(answer, now);
    const fixed = limiter.stated?.windowMs;
    // A ban may outlast the window.
    const said = asked !== undefined && (fixed === undefined || asked <= 4 * fixed + 5000) ? asked : fixed;
    const backOff = Math.min(
      MIN_BACK_OFF_MS * 2 ** account.retries * (1 + 0.2 * random()),
      Math.max(MAX_BACK_OFF_MS, account.waitedMs / 4),
    );
    const guess = said ?? windowLeft(account, now);
    // If the first wait did not help, it was too short.
    const wanted =
      (guess === undefined ? backOff : account.retries === 0 ? guess : guess + backOff) + MARGIN_MS;
    const wait = Math.min(wanted, patience - account.waitedMs);
    account.retries++;
    if (asked !== undefined && asked === said && asked + MARGIN_MS > patience) {
      const field = header(answer, 'retry-after') === undefined ? 'RateLimit-Reset' : 'Retry-After';
      account.gaveUp = `429 with a ${field} of ${Math.round(asked / 1000)} s, longer than this run waits`;
    } else if (wait <= 0 || (asked !== undefined && wanted > patience))
      account.gaveUp = `still 429 after waiting ${Math.round(account.waitedMs / 1000)} s`;
    else if (now + wait > deadline) {
      account.gaveUp = LIMITED_UNTIL_END;
      if (asked !== undefined) learn(account, now + asked - PRECISION_MS, now + asked);
    } else {
      account.waitedMs += wait;
      account.blockedUntil = now + wait;
      // Both endpoints may wait at the same time: count it once.
      waitedMs += Math.max(0, account.blockedUntil - Math.max(now, waitedUntil));
      waitedUntil = Math.max(waitedUntil, account.blockedUntil);
    }
  };

  /** Rest of the learned window, in ms. Without one, assumes the window of the other endpoint. */
  const windowLeft = ({ limiter, key, passes, retries }: Account, now: number) => {
    const [limit] = [limiter, ...Object.values(limiters)].flatMap(({ learned }) => learned ?? []);
    const first = limit && (passes.at(-limit.most) ?? passes[0]);
    if (key === '' || retries > 0 || first === undefined) return undefined;
    return Math.max(MIN_BACK_OFF_MS, first + limit!.windowMs - now);
  };

  return {
    admit,
    record,
    /** Allows another try for a key that was given up. */
    allowRetry: (endpoint: Endpoint, key: string): void => {
      const account = accountOf(endpoint, key);
      account.gaveUp = undefined;
      account.waitedMs = 0;
    },
    firstAvailable: (endpoint: Endpoint, keys: readonly string[]): string => {
      const rank = (key: string) => {
        const account = accountOf(endpoint, key);
        if (account.gaveUp !== undefined) return Number.POSITIVE_INFINITY;
        const at = allowedAt(account, 1);
        return Number.isFinite(at) ? at : clock.now() + 1;
      };
      return keys.reduce((best, key) => (rank(key) < rank(best) ? key : best));
    },
    /** Limits learned from 429s. */
    learned: (): Readonly<Partial<Record<Endpoint, RateLimit>>> =>
      Object.fromEntries(
        Object.entries(limiters).flatMap(([endpoint, { learned }]) => (learned ? [[endpoint, learned]] : [])),
      ),
    /** Waits until all requests to an endpoint have left the window. */
    waitForReset: async (endpoint: Endpoint): Promise<void> => {
      const limiter = limiters[endpoint];
      const end = limiter.lastAnswerAt + (limitOf(limiter)?.windowMs ?? 0) + MARGIN_MS;
      if (end > clock.now() && end < deadline) await clock.sleep(end - clock.now(), signal);
    },
    /** Waits until the run got no reply for `ms`. */
    waitForQuiet: async (ms: number): Promise<void> => {
      const lastAnswerAt = () => Math.max(...Object.values(limiters).map((one) => one.lastAnswerAt));
      const left = () => Math.min(lastAnswerAt() + ms + MARGIN_MS, deadline) - clock.now();
      while (left() > 0 && !signal.aborted) await clock.sleep(left(), signal);
    },
    waitedMs: () => waitedMs,
  };
}

const limitOf = ({ stated, learned }: Limiter): RateLimit | undefined => stated ?? learned;
