import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import type { Answer, Trouble } from '../answer.ts';
import { header } from '../answer.ts';
import type { Clock } from './clock.ts';

/** A wait that the target asks for is honoured up to here, in ms. */
const LONGEST_RETRY_AFTER = 120_000;

/** Consecutive waits end here where the fixture states no window, in ms: a little more than two minutes. */
const PATIENCE = 150_000;

/** First wait where the target says nothing, in ms; doubled each time. */
const FIRST_BACK_OFF = 500;

/** Added to a window's end, in ms, for clocks that round. */
const MARGIN = 20;

/** What one key has spent on one endpoint, and whether its limiter lets it in. */
interface Account {
  readonly threshold: number;
  readonly windowMs: number | undefined;
  inFlight: number;
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
  /** Whether the time of the run is used up, or the run interrupted; nothing more may go out then. */
  readonly ended: () => Trouble | undefined;
  /** Waits until a request may go out; trouble where it never may. */
  readonly admit: (endpoint: Endpoint, key: string, price: 0 | 1) => Promise<Trouble | undefined>;
  /** Takes note of the reply to an admitted request, or of one that was sent without asking. */
  readonly note: (
    endpoint: Endpoint,
    key: string,
    price: 0 | 1,
    reply: Answer | undefined,
    wasAdmitted: boolean,
  ) => void;
  /** The key that can go out first. */
  readonly soonest: (endpoint: Endpoint, keys: readonly string[]) => string;
  /** Waits until everything that the key spent is forgotten. */
  readonly settle: (endpoint: Endpoint, key: string) => Promise<void>;
  /** Waits for 429s so far, in ms. */
  readonly waitedMs: () => number;
}

export interface QuotaOptions {
  readonly clock: Clock;
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
export function createQuota({ clock, limits, deadline, random, signal }: QuotaOptions): Quota {
  const accounts = new Map<string, Account>();
  const waiters = new Set<() => void>();
  let waitedMs = 0;

  const accountOf = (endpoint: Endpoint, key: string): Account => {
    const name = `${endpoint} ${key}`;
    let account = accounts.get(name);
    if (account === undefined) {
      account = {
        ...stated(limits, endpoint, key),
        inFlight: 0,
        releases: [],
        closedUntil: 0,
        waitedMs: 0,
        strikes: 0,
        probing: false,
        shut: undefined,
      };
      accounts.set(name, account);
    }
    return account;
  };

  /** Until a reply has been noted. */
  const nextNote = () => new Promise<void>((resolve) => waiters.add(resolve));

  /** One counted request is kept back: at its threshold a limiter turns away the free ones too. */
  const isFull = (account: Account, price: 0 | 1) => {
    const now = clock.now();
    while (account.releases.length > 0 && account.releases[0]! <= now) account.releases.shift();
    const most = price === 0 ? account.threshold : Math.max(1, account.threshold - 1);
    return account.inFlight + account.releases.length >= most;
  };

  const ended: Quota['ended'] = () => {
    if (signal.aborted) return { kind: 'trouble', code: 'interrupted', words: 'the run was interrupted' };
    if (clock.now() < deadline) return undefined;
    return { kind: 'trouble', code: 'budget', words: 'the time of --max-duration was used up' };
  };

  const admit: Quota['admit'] = async (endpoint, key, price) => {
    const account = accountOf(endpoint, key);
    for (;;) {
      const end = ended();
      if (end !== undefined) return end;
      const now = clock.now();
      if (account.shut !== undefined) return { kind: 'trouble', code: 'rate-limited', words: account.shut };
      if (now < account.closedUntil) await clock.sleep(Math.min(account.closedUntil, deadline) - now, signal);
      else if (account.probing) await nextNote();
      else if (isFull(account, price)) {
        const release = account.releases[0];
        await (release === undefined ? nextNote() : clock.sleep(Math.min(release, deadline) - now, signal));
      } else break;
    }
    account.probing = account.strikes > 0;
    account.inFlight += price;
    return undefined;
  };

  const note: Quota['note'] = (endpoint, key, price, reply, wasAdmitted) => {
    const account = accountOf(endpoint, key);
    if (wasAdmitted) account.inFlight -= price;
    account.probing = false;
    if (reply?.status === 429) {
      if (wasAdmitted) close(account, reply);
    } else if (reply !== undefined) {
      if (wasAdmitted) Object.assign(account, { strikes: 0, waitedMs: 0 });
      if (price > 0 && account.windowMs !== undefined)
        account.releases.push(reply.receivedAt + account.windowMs + MARGIN);
    } else if (price > 0 && account.windowMs !== undefined)
      account.releases.push(clock.now() + account.windowMs + MARGIN);
    for (const wake of waiters) wake();
    waiters.clear();
  };

  const close = (account: Account, answer: Answer) => {
    // Requests that were under way when the limiter set in say nothing new.
    if (answer.sentAt < account.closedUntil) return;
    const now = clock.now();
    // A date is meant by the target's own clock.
    const theirs = Date.parse(header(answer, 'date') ?? '');
    const asked = retryAfterMs(header(answer, 'retry-after'), Number.isNaN(theirs) ? now : theirs);
    const backOff = FIRST_BACK_OFF * 2 ** account.strikes * (1 + 0.2 * random());
    const patience = account.windowMs === undefined ? PATIENCE : 4 * account.windowMs + 5000;
    const longest = account.windowMs === undefined ? LONGEST_RETRY_AFTER : patience;
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
    ended,
    admit,
    note,
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
    settle: async (endpoint, key) => {
      const last = accountOf(endpoint, key).releases.at(-1);
      if (last !== undefined && last > clock.now())
        await clock.sleep(Math.min(last, deadline) - clock.now(), signal);
    },
    waitedMs: () => waitedMs,
  };
}

/** Only keys that were issued have a threshold stated for them; the empty name stands for everybody else. */
function stated(
  limits: FixtureLimits,
  endpoint: Endpoint,
  key: string,
): Pick<Account, 'threshold' | 'windowMs'> {
  const limit = key === '' ? undefined : limits[endpoint];
  if (limit === undefined) return { threshold: Number.POSITIVE_INFINITY, windowMs: undefined };
  return {
    threshold: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
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
