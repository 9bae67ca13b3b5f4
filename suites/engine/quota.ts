import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { header, trouble, type Answer, type Trouble } from '../answer.ts';
import type { Rule } from '../limiter/history.ts';
import { statedRule } from '../limiter/rule.ts';
import type { Budget } from './budget.ts';
import type { Clock } from './clock.ts';
import { explanation, type Explanation } from './explanation.ts';
import { PRECISION, waitAskedFor } from './retry-after.ts';

/** Maximum sum of consecutive waits for a limiter, in ms. */
const LONGEST_WAIT = 3_600_000;

/** The same for requests that measure how long a limit lasts. */
const LONGEST_PATIENT_WAIT = 86_400_000;

/** First and longest back-off, in ms. It doubles each time, up to this or a quarter of the time waited. */
const [FIRST_BACK_OFF, LONGEST_BACK_OFF] = [500, 10_000];

/** Added to the end of a window, in ms, because clocks round. */
const MARGIN = 20;

const USED_UP = 'the key is rate-limited until after the end of --max-duration';

/** State of one key on one endpoint: counted requests, and whether it is rate-limited. */
interface Account {
  readonly limiter: Limiter;
  readonly key: string;
  inFlight: number;
  /** Send times of the latest counted requests that passed. Only used without a stated limit. */
  passes: number[];
  /** When each counted request leaves the window, ascending. */
  releases: number[];
  closedUntil: number;
  /** Send time of the last refused request. */
  refusedAt: number;
  /** Time waited since the last answer other than 429, in ms. */
  waitedMs: number;
  strikes: number;
  /** Whether a probe is in flight that tests if the limit has ended. */
  probing: boolean;
  /** Why waiting was given up. */
  shut: string | undefined;
}

/** Which requests a limiter counts together. */
type Scope = 'key' | 'endpoint' | 'service';

/** The limiter of an endpoint, stated or learned from 429s. */
interface Limiter {
  readonly stated: Rule | undefined;
  readonly accounts: Map<string, Account>;
  /** Time of the last reply, in ms. */
  lastAnswerAt: number;
  /** The latest refusals that ended. */
  refusals: readonly Refusal[];
  /** The limit that explains these refusals. */
  learned?: Rule;
  scope: Scope;
  /** Refusals that it does not explain: other requests count too, or other clients use the key. */
  surprises: number;
}

/** A key that was refused until a time between `least` and `most`, in ms. */
interface Refusal {
  readonly account: Account;
  readonly least: number;
  readonly most: number;
}

/** Maximum number of refusals and passes kept. */
const [MOST_REFUSALS, MOST_PASSES] = [8, 4000];

/** After so many surprises, requests are no longer counted: only a 429 makes them wait. */
const MOST_SURPRISES = 5;

/** A wider scope must fit better by at least this much. */
const CLEARLY = 0.1;

export interface Quota {
  /** Waits until a request may be sent, at most until `until` (ms). Returns trouble if it may not be sent. */
  readonly admit: (
    endpoint: Endpoint,
    key: string,
    price: 0 | 1,
    until?: number,
  ) => Promise<Trouble | undefined>;
  /** Records the reply to a request, admitted or not. */
  readonly note: (
    endpoint: Endpoint,
    key: string,
    price: 0 | 1,
    reply: Answer | undefined,
    wasAdmitted: boolean,
    isPatient?: boolean,
  ) => void;
  /** Allows another try for a key that was given up. */
  readonly reopen: (endpoint: Endpoint, key: string) => void;
  /** The key that may be used first. */
  readonly soonest: (endpoint: Endpoint, keys: readonly string[]) => string;
  /** Limits learned from 429s. */
  readonly learned: () => Readonly<Partial<Record<Endpoint, Rule>>>;
  /** Waits until all requests to an endpoint have left the window. */
  readonly settle: (endpoint: Endpoint) => Promise<void>;
  /** Waits until the run got no reply for `ms`. */
  readonly rest: (ms: number) => Promise<void>;
  /** Total time waited because of 429s, in ms. */
  readonly waitedMs: () => number;
}

export interface QuotaOptions {
  readonly clock: Clock;
  readonly budget: Budget;
  readonly limits: FixtureLimits;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** Random numbers from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * Keeps requests below the limits that the fixture states or that 429s revealed, so that no check meets an
 * unexpected 429. After a 429, holds back the key until the limit ends.
 *
 * A request counts from its sending until one window after its answer. So the threshold is not crossed, whatever the
 * latency, with fixed and with sliding windows.
 */
export function createQuota({ clock, budget, limits, deadline, random, signal }: QuotaOptions): Quota {
  const limiterOf = (endpoint: Endpoint): Limiter => ({
    stated: statedRule(endpoint, { limits }),
    accounts: new Map(),
    lastAnswerAt: Number.NEGATIVE_INFINITY,
    refusals: [],
    scope: 'key',
    surprises: 0,
  });
  const limiters: Readonly<Record<Endpoint, Limiter>> = {
    'user-status': limiterOf('user-status'),
    'deposit-check': limiterOf('deposit-check'),
  };
  const waiters = new Set<() => void>();
  let waitedMs = 0;
  let waitedUntil = 0;

  const accountOf = (endpoint: Endpoint, key: string): Account => {
    const limiter = limiters[endpoint];
    let account = limiter.accounts.get(key);
    if (account === undefined) {
      account = {
        limiter,
        key,
        inFlight: 0,
        passes: [],
        releases: [],
        closedUntil: 0,
        refusedAt: 0,
        waitedMs: 0,
        strikes: 0,
        probing: false,
        shut: undefined,
      };
      limiter.accounts.set(key, account);
    }
    return account;
  };

  /** Only issued keys have a limit. The empty key stands for all other requests. */
  const ruleFor = ({ limiter, key }: Account) => (key === '' ? undefined : ruleOf(limiter));

  /** Resolves when the next reply is recorded. */
  const nextNote = () => new Promise<void>((resolve) => waiters.add(resolve));

  const sharing = (account: Account, scope: Scope): readonly Account[] => {
    if (scope === 'key') return [account];
    const all = scope === 'endpoint' ? [account.limiter] : Object.values(limiters);
    return all.flatMap(({ accounts }) => [...accounts.values()]).filter(({ key }) => key !== '');
  };

  /** Number of requests in the window, and when the first of them leaves it. */
  const spending = (account: Account) => {
    const now = clock.now();
    let spent = 0;
    let release = Number.POSITIVE_INFINITY;
    for (const { releases, inFlight } of sharing(account, account.limiter.scope)) {
      while (releases.length > 0 && releases[0]! <= now) releases.shift();
      spent += inFlight + releases.length;
      release = Math.min(release, releases[0] ?? release);
    }
    return { spent, release };
  };

  /** One request is reserved: at the threshold, a limiter refuses free requests too. */
  const isFull = (account: Account, price: 0 | 1) => {
    const rule = ruleFor(account);
    if (rule === undefined) return false;
    return spending(account).spent >= (price === 0 ? rule.most : Math.max(1, rule.most - 1));
  };

  /** When a request may be sent: 0 for now, Infinity if that depends on a reply. */
  const opensAt = (account: Account, price: 0 | 1): number => {
    if (clock.now() < account.closedUntil) return account.closedUntil;
    if (account.probing) return Number.POSITIVE_INFINITY;
    return isFull(account, price) ? spending(account).release : 0;
  };

  /** Why a request may not be sent: trouble, or a wait; undefined if it may. */
  const obstacle = (account: Account, price: 0 | 1, until?: number): Trouble | Promise<void> | undefined => {
    const end = budget.ended(until);
    if (end !== undefined) return end;
    if (account.shut !== undefined) return trouble('rate-limited', account.shut);
    // Fail at once instead of a wait that cannot succeed.
    const waitUntil = (at: number) =>
      at < Math.min(until ?? deadline, deadline)
        ? clock.sleep(at - clock.now(), signal)
        : trouble('rate-limited', USED_UP);
    const at = opensAt(account, price);
    if (at === 0) return undefined;
    return Number.isFinite(at) ? waitUntil(at) : nextNote();
  };

  const admit: Quota['admit'] = async (endpoint, key, price, until) => {
    const account = accountOf(endpoint, key);
    let next = obstacle(account, price, until);
    while (next instanceof Promise) {
      await next;
      next = obstacle(account, price, until);
    }
    if (next !== undefined) return next;
    account.probing = account.strikes > 0;
    account.inFlight += price;
    return undefined;
  };

  const note: Quota['note'] = (endpoint, key, price, reply, wasAdmitted, isPatient = false) => {
    const account = accountOf(endpoint, key);
    account.limiter.lastAnswerAt = clock.now();
    if (wasAdmitted) account.inFlight -= price;
    // A request sent before the 429 that passed does not show that the limit has ended.
    const isLate = account.strikes > 0 && reply !== undefined && reply.sentAt < account.closedUntil;
    if (!isLate) account.probing = false;
    if (reply?.status === 429) {
      if (wasAdmitted) close(account, reply, isPatient ? LONGEST_PATIENT_WAIT : LONGEST_WAIT);
    } else {
      if (reply !== undefined && wasAdmitted && !isLate) reopened(account, reply);
      if (price > 0) count(account, reply);
    }
    for (const wake of waiters) wake();
    waiters.clear();
  };

  /** The server may have counted a lost request. */
  const count = (account: Account, reply: Answer | undefined) => {
    const windowMs = ruleFor(account)?.windowMs;
    if (windowMs !== undefined) account.releases.push((reply?.receivedAt ?? clock.now()) + windowMs + MARGIN);
    if (reply === undefined || account.key === '' || account.limiter.stated !== undefined) return;
    account.passes.push(reply.sentAt);
    if (account.passes.length > 2 * MOST_PASSES) account.passes = account.passes.slice(-MOST_PASSES);
  };

  const reopened = (account: Account, { sentAt }: Answer) => {
    if (account.strikes > 0) {
      // Retry-After is rounded up to whole seconds.
      const least = account.strikes > 1 ? 0 : account.closedUntil - MARGIN - PRECISION;
      learn(account, Math.max(account.refusedAt, least), sentAt);
    }
    account.strikes = 0;
    account.waitedMs = 0;
  };

  /** The end of the limit (between `least` and `most`) gives the window. The passes before it give the threshold. */
  const learn = (account: Account, least: number, most: number) => {
    if (!account.passes.some((at) => at < most)) return;
    const { limiter } = account;
    limiter.refusals = [...limiter.refusals, { account, least, most }].slice(-MOST_REFUSALS);
    let best: Explanation | undefined;
    for (const scope of ['key', 'endpoint', 'service'] as const) {
      const found = explanation(
        limiter.refusals.map((refusal) => ({
          ...refusal,
          passes: sharing(refusal.account, scope).flatMap(({ passes }) => passes),
        })),
      );
      if (found === undefined || (best !== undefined && found.fit < best.fit + CLEARLY)) continue;
      best = found;
      limiter.scope = scope;
    }
    if (best === undefined) return;
    const { windowMs } = best;
    limiter.learned = {
      windowMs,
      most: limiter.surprises < MOST_SURPRISES ? best.most : Number.POSITIVE_INFINITY,
    };
    // Count earlier requests by the new limit.
    for (const one of sharing(account, limiter.scope === 'key' ? 'endpoint' : limiter.scope))
      one.releases = one.passes.map((sentAt) => sentAt + windowMs + MARGIN).toSorted((a, b) => a - b);
  };

  const close = (account: Account, answer: Answer, patience: number) => {
    // Requests in flight at the first 429 show nothing new.
    if (answer.sentAt < account.closedUntil) return;
    const now = clock.now();
    account.refusedAt = answer.sentAt;
    const { limiter } = account;
    if (account.strikes === 0 && limiter.learned !== undefined && !isFull(account, 1)) limiter.surprises++;
    const asked = waitAskedFor(answer, now);
    const fixed = limiter.stated?.windowMs;
    // A ban may outlast the window.
    const said = asked !== undefined && (fixed === undefined || asked <= 4 * fixed + 5000) ? asked : fixed;
    const backOff = Math.min(
      FIRST_BACK_OFF * 2 ** account.strikes * (1 + 0.2 * random()),
      Math.max(LONGEST_BACK_OFF, account.waitedMs / 4),
    );
    const guess = said ?? windowLeft(account, now);
    // If the first wait did not help, it was too short.
    const wanted = (guess === undefined ? backOff : account.strikes === 0 ? guess : guess + backOff) + MARGIN;
    const wait = Math.min(wanted, patience - account.waitedMs);
    account.strikes++;
    if (asked !== undefined && asked === said && asked + MARGIN > patience) {
      const field = header(answer, 'retry-after') === undefined ? 'RateLimit-Reset' : 'Retry-After';
      account.shut = `429 with a ${field} of ${Math.round(asked / 1000)} s, longer than this run waits`;
    } else if (wait <= 0 || (asked !== undefined && wanted > patience))
      account.shut = `still 429 after waiting ${Math.round(account.waitedMs / 1000)} s`;
    else if (now + wait > deadline) {
      account.shut = USED_UP;
      if (asked !== undefined) learn(account, now + asked - PRECISION, now + asked);
    } else {
      account.waitedMs += wait;
      account.closedUntil = now + wait;
      // Both endpoints may wait at the same time: count it once.
      waitedMs += Math.max(0, account.closedUntil - Math.max(now, waitedUntil));
      waitedUntil = Math.max(waitedUntil, account.closedUntil);
    }
  };

  /** Rest of the learned window, in ms. Without one, assumes the window of the other endpoint. */
  const windowLeft = ({ limiter, key, passes, strikes }: Account, now: number) => {
    const [rule] = [limiter, ...Object.values(limiters)].flatMap(({ learned }) => learned ?? []);
    const first = rule && (passes.at(-rule.most) ?? passes[0]);
    if (key === '' || strikes > 0 || first === undefined) return undefined;
    return Math.max(FIRST_BACK_OFF, first + rule!.windowMs - now);
  };

  return {
    admit,
    note,
    reopen: (endpoint, key) => {
      const account = accountOf(endpoint, key);
      account.shut = undefined;
      account.waitedMs = 0;
    },
    soonest: (endpoint, keys) => {
      const rank = (key: string) => {
        const account = accountOf(endpoint, key);
        if (account.shut !== undefined) return Number.POSITIVE_INFINITY;
        const at = opensAt(account, 1);
        return Number.isFinite(at) ? at : clock.now() + 1;
      };
      return keys.reduce((best, key) => (rank(key) < rank(best) ? key : best));
    },
    learned: () =>
      Object.fromEntries(
        Object.entries(limiters).flatMap(([endpoint, { learned }]) => (learned ? [[endpoint, learned]] : [])),
      ),
    settle: async (endpoint) => {
      const limiter = limiters[endpoint];
      const end = limiter.lastAnswerAt + (ruleOf(limiter)?.windowMs ?? 0) + MARGIN;
      if (end > clock.now() && end < deadline) await clock.sleep(end - clock.now(), signal);
    },
    rest: async (ms) => {
      const lastAnswerAt = () => Math.max(...Object.values(limiters).map((one) => one.lastAnswerAt));
      const left = () => Math.min(lastAnswerAt() + ms + MARGIN, deadline) - clock.now();
      while (left() > 0 && !signal.aborted) await clock.sleep(left(), signal);
    },
    waitedMs: () => waitedMs,
  };
}

const ruleOf = ({ stated, learned }: Limiter): Rule | undefined => stated ?? learned;
