import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import type { Answer, Trouble } from '../answer.ts';
import { header } from '../answer.ts';
import type { Rule } from '../limiter/history.ts';
import { statedRule } from '../limiter/rule.ts';
import type { Budget } from './budget.ts';
import type { Clock } from './clock.ts';

/** A wait that the target asks for is honoured up to here, in ms. */
const LONGEST_RETRY_AFTER = 120_000;

/** Consecutive waits end here, in ms. */
const LONGEST_WAIT = 150_000;

/** The same for a request that asks how long a limit lasts: a day, or the end of the run. */
const LONGEST_PATIENT_WAIT = 86_400_000;

/** First wait where the target says nothing, in ms; doubled each time. */
const FIRST_BACK_OFF = 500;

/** Added to a window's end, in ms, for clocks that round. */
const MARGIN = 20;

/** What one key has spent on one endpoint, and whether its limiter lets it in. */
interface Account {
  readonly isStated: boolean;
  most: number;
  windowMs: number | undefined;
  inFlight: number;
  /** When counted requests that passed went out, since the limiter last let go; where no limit is stated. */
  passes: number[];
  /** When each counted request is forgotten, at the earliest from the answer on; ascending. */
  releases: number[];
  closedUntil: number;
  /** Waits in a row, in ms, without an answer other than 429. */
  waitedMs: number;
  strikes: number;
  /** Whether a single request is trying whether the limiter has let go. */
  probing: boolean;
  /** Set when waiting is given up. */
  shut: string | undefined;
}

export interface Quota {
  /** Waits until a request may go out, but not beyond `until` (ms); trouble where it never may. */
  readonly admit: (
    endpoint: Endpoint,
    key: string,
    price: 0 | 1,
    until?: number,
  ) => Trouble | undefined | Promise<Trouble | undefined>;
  /** Takes note of the reply to an admitted request, or of one that was sent without asking. */
  readonly note: (
    endpoint: Endpoint,
    key: string,
    price: 0 | 1,
    reply: Answer | undefined,
    wasAdmitted: boolean,
    isPatient?: boolean,
  ) => void;
  /** Lets a key that was given up be tried once more. */
  readonly reopen: (endpoint: Endpoint, key: string) => void;
  /** The key that can go out first. */
  readonly soonest: (endpoint: Endpoint, keys: readonly string[]) => string;
  /** Limits that nobody stated, as far as 429s have taught them. */
  readonly learned: () => Readonly<Partial<Record<Endpoint, Rule>>>;
  /** Waits until whatever was sent to an endpoint is forgotten, whether it counted or not. */
  readonly settle: (endpoint: Endpoint) => Promise<void>;
  /** Waits until no request of the run was answered for so many ms. */
  readonly rest: (ms: number) => Promise<void>;
  /** Waits for 429s so far, in ms. */
  readonly waitedMs: () => number;
}

export interface QuotaOptions {
  readonly clock: Clock;
  readonly budget: Budget;
  readonly limits: FixtureLimits;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * Keeps within the limits that the fixture states, so that no check meets a 429 that it did not ask
 * for; where one comes all the same, holds back the key until the limiter lets go.
 *
 * A request counts from the moment it goes out until a window after its answer came: whatever the
 * latency, and whether the target's window is fixed or slides, the threshold is not crossed.
 */
export function createQuota({ clock, budget, limits, deadline, random, signal }: QuotaOptions): Quota {
  const accounts = new Map<Endpoint, Map<string, Account>>();
  const learned = new Map<Endpoint, Rule>();
  /** When an endpoint was last heard of, in ms. */
  const lastAnswer = new Map<Endpoint, number>();
  const waiters = new Set<() => void>();
  let waitedMs = 0;

  const accountOf = (endpoint: Endpoint, key: string): Account => {
    const ofEndpoint = accounts.get(endpoint) ?? new Map<string, Account>();
    accounts.set(endpoint, ofEndpoint);
    let account = ofEndpoint.get(key);
    if (account === undefined) {
      account = {
        ...(stated(limits, endpoint, key) ?? {
          isStated: false,
          ...((key === '' ? undefined : learned.get(endpoint)) ?? unlimited),
        }),
        inFlight: 0,
        passes: [],
        releases: [],
        closedUntil: 0,
        waitedMs: 0,
        strikes: 0,
        probing: false,
        shut: undefined,
      };
      ofEndpoint.set(key, account);
    }
    return account;
  };

  /** Until a reply has been noted. */
  const nextNote = () => new Promise<void>((resolve) => waiters.add(resolve));

  /** One counted request is kept back: at its threshold a limiter turns away the free ones too. */
  const isFull = (account: Account, price: 0 | 1) => {
    const now = clock.now();
    while (account.releases.length > 0 && account.releases[0]! <= now) account.releases.shift();
    const room = price === 0 ? account.most : Math.max(1, account.most - 1);
    return account.inFlight + account.releases.length >= room;
  };

  /** What stands in the way of a request: trouble, or something to wait for; undefined where nothing does. */
  const obstacle = (account: Account, price: 0 | 1, until?: number): Trouble | Promise<void> | undefined => {
    const last = until ?? deadline;
    const end = budget.ended(until);
    if (end !== undefined) return end;
    if (account.shut !== undefined) return { kind: 'trouble', code: 'rate-limited', words: account.shut };
    const now = clock.now();
    if (now < account.closedUntil) return clock.sleep(Math.min(account.closedUntil, last) - now, signal);
    if (account.probing) return nextNote();
    if (!isFull(account, price)) return undefined;
    const [release] = account.releases;
    return release === undefined ? nextNote() : clock.sleep(Math.min(release, last) - now, signal);
  };

  const enter = (account: Account, price: 0 | 1): undefined => {
    account.probing = account.strikes > 0;
    account.inFlight += price;
  };

  const admit: Quota['admit'] = (endpoint, key, price, until) => {
    const account = accountOf(endpoint, key);
    const first = obstacle(account, price, until);
    // Nearly always the way is free.
    return first instanceof Promise
      ? admitAfter(first, account, price, until)
      : (first ?? enter(account, price));
  };

  const admitAfter = async (wait: Promise<void>, account: Account, price: 0 | 1, until?: number) => {
    let next: Trouble | Promise<void> | undefined = wait;
    while (next instanceof Promise) {
      await next;
      next = obstacle(account, price, until);
    }
    return next ?? enter(account, price);
  };

  const note: Quota['note'] = (endpoint, key, price, reply, wasAdmitted, isPatient = false) => {
    const account = accountOf(endpoint, key);
    lastAnswer.set(endpoint, clock.now());
    if (wasAdmitted) account.inFlight -= price;
    // What was under way when the limiter set in, and passed, does not say that it has let go.
    const isLate = account.strikes > 0 && reply !== undefined && reply.sentAt < account.closedUntil;
    if (!isLate) account.probing = false;
    if (reply?.status === 429) {
      if (wasAdmitted) close(account, reply, isPatient ? LONGEST_PATIENT_WAIT : LONGEST_WAIT);
    } else if (reply !== undefined) {
      if (wasAdmitted && !isLate) {
        if (account.strikes > 0 && price > 0) learn(endpoint, key, account, reply);
        account.strikes = 0;
        account.waitedMs = 0;
      }
      if (price > 0 && !account.isStated) account.passes.push(reply.sentAt);
      if (price > 0 && account.windowMs !== undefined)
        account.releases.push(reply.receivedAt + account.windowMs + MARGIN);
    } else if (price > 0 && account.windowMs !== undefined)
      account.releases.push(clock.now() + account.windowMs + MARGIN);
    for (const wake of waiters) wake();
    waiters.clear();
  };

  /** The wait until a limiter lets go tells its window; what passed before, its threshold. */
  const learn = (endpoint: Endpoint, key: string, account: Account, release: Answer) => {
    const { passes, most, windowMs, isStated } = account;
    const first = passes[0];
    account.passes = [];
    if (isStated || key === '' || first === undefined) return;
    const measured = release.receivedAt - first;
    // A shorter measure must not make for a higher rate than was found too high before.
    const limit: Rule =
      windowMs === undefined
        ? { most: passes.length, windowMs: measured }
        : {
            most: Math.min(most, passes.length),
            windowMs: Math.max(measured, (windowMs * Math.min(most, passes.length)) / most),
          };
    learned.set(endpoint, limit);
    for (const [name, other] of accounts.get(endpoint) ?? [])
      if (name !== '' && !other.isStated) Object.assign(other, limit);
  };

  const close = (account: Account, answer: Answer, patience: number) => {
    // Requests that were under way when the limiter set in say nothing new.
    if (answer.sentAt < account.closedUntil) return;
    const now = clock.now();
    // A date is meant by the target's own clock.
    const theirs = Date.parse(header(answer, 'date') ?? '');
    const asked = retryAfterMs(header(answer, 'retry-after'), Number.isNaN(theirs) ? now : theirs);
    const backOff = FIRST_BACK_OFF * 2 ** account.strikes * (1 + 0.2 * random());
    const longest = account.windowMs === undefined ? LONGEST_RETRY_AFTER : 4 * account.windowMs + 5000;
    const said = asked !== undefined && asked <= longest ? asked : account.windowMs;
    // What was said turned out too short when the first wait did not help.
    const wanted = (said === undefined ? backOff : account.strikes === 0 ? said : said + backOff) + MARGIN;
    const wait = Math.min(wanted, patience - account.waitedMs);
    account.strikes++;
    account.waitedMs += Math.max(0, wait);
    if (asked !== undefined && asked > LONGEST_RETRY_AFTER && account.windowMs === undefined)
      account.shut = `429 with Retry-After of ${Math.round(asked / 1000)} s, longer than is waited for`;
    else if (wait <= 0) account.shut = `still 429 after waiting ${Math.round(account.waitedMs / 1000)} s`;
    else if (now + wait > deadline)
      account.shut = `429, and the wait for its end would go beyond --max-duration`;
    else {
      account.closedUntil = now + wait;
      waitedMs += wait;
    }
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
      const opensAt = (key: string) => {
        const account = accountOf(endpoint, key);
        if (account.shut !== undefined) return Number.POSITIVE_INFINITY;
        const free = isFull(account, 1) ? (account.releases[0] ?? clock.now() + 1) : 0;
        return Math.max(
          account.closedUntil > clock.now() ? account.closedUntil : 0,
          account.probing ? clock.now() + 1 : 0,
          free,
        );
      };
      return keys.reduce((best, key) => (opensAt(key) < opensAt(best) ? key : best));
    },
    learned: () => Object.fromEntries(learned),
    settle: async (endpoint) => {
      const windowMs = statedRule(endpoint, { limits })?.windowMs ?? learned.get(endpoint)?.windowMs ?? 0;
      const end = Math.min(
        (lastAnswer.get(endpoint) ?? Number.NEGATIVE_INFINITY) + windowMs + MARGIN,
        deadline,
      );
      if (end > clock.now()) await clock.sleep(end - clock.now(), signal);
    },
    rest: async (ms) => {
      const endsAt = () =>
        Math.min(Math.max(...lastAnswer.values(), Number.NEGATIVE_INFINITY) + ms + MARGIN, deadline);
      for (let left = endsAt() - clock.now(); left > 0 && !signal.aborted; left = endsAt() - clock.now())
        await clock.sleep(left, signal);
    },
    waitedMs: () => waitedMs,
  };
}

const unlimited = { most: Number.POSITIVE_INFINITY, windowMs: undefined };

/** Only keys that were issued have a threshold stated for them; the empty name stands for everybody else. */
function stated(
  limits: FixtureLimits,
  endpoint: Endpoint,
  key: string,
): (Rule & { readonly isStated: true }) | undefined {
  const rule = key === '' ? undefined : statedRule(endpoint, { limits });
  return rule === undefined ? undefined : { isStated: true, ...rule };
}

/** A date as HTTP writes it today, as asctime() wrote it, and as RFC 850 did (RFC 9110 5.6.7); all of them UTC. */
const httpDate = /^[A-Za-z]{3,9}, \d\d[ -][A-Za-z]{3}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Retry-After as seconds or as a date (RFC 9110 10.2.3), in ms from now; undefined where it is neither. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const utc = httpDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : undefined;
  const date = utc === undefined ? Number.NaN : Date.parse(utc);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
