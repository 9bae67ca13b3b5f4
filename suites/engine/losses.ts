import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Loss } from '../../schemas/generated/types.ts';
import { lossWords } from '../../schemas/progress.ts';
import { defined } from '../../schemas/values.ts';
import { firstWords, trouble, type Reply, type Trouble } from '../answer.ts';
import type { RunExchange } from '../judging/evaluation.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import {
  createRightBefore,
  expectedOf,
  FRONT,
  isOf,
  isRefusal,
  statusOf,
  type Found,
  type Kind,
  type RightBeforeOptions,
} from './right-before.ts';

export interface LossOptions extends RightBeforeOptions {
  /** Judges an answer that is not held. */
  readonly judge: (exchange: RunExchange) => void;
  /** Records that a lookup has no answer that can be judged. */
  readonly leaveOpen: (exchange: RunExchange, why: Trouble) => void;
  /** Called when nothing more can be asked at an endpoint, or with a key there. */
  readonly onLost: (loss: Loss, why: Trouble, isWhole: boolean) => void;
  /** Resolves when no single lookup is in flight. */
  readonly untilQuiet: () => Promise<void>;
  /** Sends a request before all others. Its answer is judged. */
  readonly askAgain: (exchange: RunExchange) => Promise<void>;
}

/** Suspect answers in a row, to one key at an endpoint or to all keys there. */
interface Row {
  readonly kind: Kind;
  readonly reply: Reply;
  readonly since: Moment;
  readonly expected: Set<string>;
  count: number;
}

/** A moment of the run: in ms of the clock, and how many requests were sent. */
interface Moment {
  readonly at: number;
  readonly requests: number;
  readonly before: readonly string[];
}

/** What becomes of lookups without an answer, once it is known what was lost. */
type After = 'again' | 'judged';

/** A suspect answer that is not judged yet. */
interface Held {
  readonly exchange: RunExchange;
  readonly kind: Kind;
  readonly name: string;
}

/** So many suspect answers in a row, of so many different right ones, may be a loss. */
const [IN_A_ROW, EXPECTED] = [8, 3];

/** Losses without an answer of the service: the first is excused, the second is waited for and judged. */
const MAX_WAITS = 2;

/**
 * After a wait in vain, the run waits again only after so many times as many answers. A framework that writes its own
 * errors as pages looks like a target that is down.
 */
const WAITS_AGAIN = 10;

/** Requests before a loss that the record names. */
const MAX_BEFORE = 5;

export type Losses = ReturnType<typeof createLosses>;

/**
 * Finds out whether a key, this address or the target stops working in the middle of a run. What is suspect is held
 * until that is known. What fell into a loss that ends is asked again, once for each kind.
 */
export function createLosses(options: LossOptions) {
  const { present, clock, budget, judge, leaveOpen } = options;
  const beganAt = clock.now();
  const right = createRightBefore(options);
  const { kindOf, nameOf, examine, isEverything } = right;
  const rows = new Map<string, Row>();
  let held: Held[] = [];
  /** How often each kind was looked into, by status. */
  const seen = new Map<string, number>();
  const lost = new Map<string, Trouble>();
  const all: Loss[] = [];
  const recent: string[] = [];
  let [answered, waitsAfter, excused] = [0, 0, 0];
  let lastGoodAt = beganAt;
  let silentSince: Moment | undefined;
  /** While something is looked into: what becomes of lookups without an answer. Nothing else is sent. */
  let open: Promise<After> | undefined;
  let failure: { readonly error: unknown } | undefined;

  const now = (): Moment => ({ at: clock.now(), requests: budget.spent(), before: [...recent] });
  const note = (found: Found, kind: Kind, reply: Reply, since: Moment, isJudged: boolean): Loss => {
    const { at, requests, before } = since;
    const isOver = found.is === 'over';
    const names = right.names();
    const endpoints = endpointNames.filter((one) =>
      names.some((name) => isOf(one, name) && found.lost.has(name)),
    );
    const isOfAll = names.every((name) => found.lost.has(name) || !endpoints.some((one) => isOf(one, name)));
    const keys = present.known.everyKey.filter(({ key }) =>
      names.some((name) => found.lost.has(name) && name.endsWith(` ${key}`)),
    );
    const loss: Loss = {
      reason: reasonOf(kind, reply, isEverything(found.lost), present.known),
      answer: reply.kind === 'answer' ? firstWords(reply) : reply.words,
      fromRequest: requests,
      fromSeconds: (at - beganAt) / 1000,
      lastRightSeconds: (lastGoodAt - beganAt) / 1000,
      before: [...before],
      ...(isOver && { seconds: (clock.now() - at) / 1000 }),
      ...(endpoints.length === 1 && defined({ endpoint: endpoints[0] })),
      ...(!isOfAll && { keys: keys.map(({ name }) => name) }),
      ...(isJudged && { isJudged }),
    };
    all.push(loss);
    return loss;
  };
  /** Ends what is lost for good: an endpoint if none of the keys under test is left there, else single keys. */
  const end = (found: Found, loss: Loss): void => {
    const ours = present.known.callerKeys;
    const isLostAt = (endpoint: Endpoint) => {
      const names = ours
        .map(({ key }) => `${endpoint} ${key}`)
        .filter((name) => right.names().includes(name));
      return names.length > 0 && names.every((name) => found.lost.has(name));
    };
    const why = trouble(loss.reason, lossWords(loss));
    const ended = endpointNames.filter(isLostAt);
    for (const endpoint of ended) lost.set(endpoint, why);
    for (const name of found.lost) lost.set(name, why);
    const isWhole = ended.length === endpointNames.length;
    if (isWhole) budget.end(why);
    options.onLost(loss, why, isWhole);
  };

  /** Judges what is held of a name; all of an endpoint without one. */
  const release = (isReleased: (one: Held) => boolean): void => {
    const some = held.filter(isReleased);
    held = held.filter((one) => !isReleased(one));
    for (const { exchange } of some) judge(exchange);
  };
  /** An answer breaks the rows of its key and of its endpoint. What has no key waits for the endpoint. */
  const breakRows = (request: Request): void => {
    const name = nameOf(request);
    const { endpoint } = request;
    rows.delete(name);
    rows.delete(endpoint);
    if (held.length > 0) release((one) => one.name === name || one.name === `${endpoint} `);
  };

  /** Looks into a row of wrong answers of the service. */
  const lookInto = async ({ kind, reply, since }: Row, request: Request): Promise<After> => {
    const status = statusOf(kind);
    const found = await examine(request);
    await options.untilQuiet();
    seen.set(status, 1);
    const isOwn = found.is === 'over' && isRefusal(kind) && !isEverything(found.lost);
    const isOfKind = (one: Held) => statusOf(one.kind) === status;
    rows.clear();
    if (isOwn) {
      release(isOfKind);
      return 'again';
    }
    excused++;
    if (found.is !== 'none') {
      const loss = note(found, kind, reply, since, false);
      if (found.is === 'lasting') end(found, loss);
    }
    const again = held.filter(isOfKind);
    held = held.filter((one) => !isOfKind(one));
    for (const { exchange } of again) {
      // A scenario asks again for itself.
      if (exchange.lookup === undefined) continue;
      const why = troubleOf(exchange.request);
      if (why === undefined) await options.askAgain(exchange);
      else leaveOpen(exchange, why);
    }
    return 'again';
  };
  /** Waits for a target of which no answer came. */
  const waitFor = async (request: Request, reply: Reply, since: Moment): Promise<After> => {
    const times = seen.get(FRONT) ?? 0;
    const found = await examine(request);
    if (found.is === 'none') {
      waitsAfter = WAITS_AGAIN * answered;
      return 'again';
    }
    seen.set(FRONT, times + 1);
    const isJudged = times > 0 && found.is === 'over';
    const loss = note(found, FRONT, reply, since, isJudged);
    if (found.is === 'lasting') end(found, loss);
    return isJudged || found.is === 'lasting' ? 'judged' : 'again';
  };
  const begin = (work: Promise<After>): Promise<After> => {
    open = work.finally(() => (open = undefined));
    // Whoever sends next gets it.
    open.catch((error: unknown) => (failure ??= { error }));
    return open;
  };
  /** What is looked into; undefined if nothing is. @throws what went wrong with that */
  const gate = (): Promise<unknown> | undefined => {
    if (failure !== undefined) throw failure.error;
    return open;
  };
  const troubleOf = (request: Request): Trouble | undefined =>
    lost.get(request.endpoint) ?? lost.get(nameOf(request));

  return {
    /** Resolves when requests may be sent; undefined if they may now. */
    gate,
    /** Why a request cannot be sent any more. */
    troubleOf,
    /** Why nothing can be asked at an endpoint any more. */
    troubleAt: (endpoint: Endpoint): Trouble | undefined => lost.get(endpoint),
    isLost: (endpoint: Endpoint, key: string): boolean => lost.has(`${endpoint} ${key}`),
    /** How often what was asked has to be asked again. */
    excused: (): number => excused,
    all: (): readonly Loss[] => all,
    /** Notes a request that is sent. */
    note: ({ method, target }: Request): void => {
      recent.push(`${method} ${target}`);
      if (recent.length > MAX_BEFORE) recent.shift();
    },
    /** Notes a reply, before it is known whether it is judged. */
    received: (isOfService: boolean): void => {
      if (isOfService) answered++;
      if (isOfService) silentSince = undefined;
      else silentSince ??= now();
    },
    /** Judges an exchange, or holds it while it is suspect. @param isWatched whether it is a single lookup */
    take: (exchange: RunExchange, isWatched: boolean): void => {
      const { request, reply } = exchange;
      if (!isWatched || reply.kind === 'trouble' || reply.status === 429 || present.state !== 'as before')
        return judge(exchange);
      const facts = factsOf(present.known, request);
      const isTelling = facts?.key === 'accepted' && facts.parameter === 'plain' && !facts.isOpen;
      const kind = kindOf(request, reply);
      if (kind === undefined || kind === FRONT || seen.has(statusOf(kind))) {
        if (kind === undefined && isTelling) {
          lastGoodAt = clock.now();
          if (rows.size > 0) breakRows(request);
          right.keep(request, reply, facts);
        }
        return judge(exchange);
      }
      if (right.names().length === 0) return judge(exchange);
      const names = [nameOf(request), request.endpoint];
      if (names.some((name) => (rows.get(name)?.kind ?? kind) !== kind)) breakRows(request);
      held.push({ exchange, kind, name: nameOf(request) });
      for (const name of names) {
        const row = rows.get(name) ?? { kind, reply, since: now(), expected: new Set(), count: 0 };
        rows.set(name, row);
        // That a key is lost shows only where a right answer depends on it.
        if (facts === undefined || (isRefusal(kind) && !isTelling)) continue;
        row.count++;
        row.expected.add(expectedOf(facts));
        if (row.count < IN_A_ROW || open !== undefined) continue;
        const variety = right.varietyAt(request.endpoint);
        if (variety > 1 && row.expected.size >= Math.min(EXPECTED, variety))
          void begin(lookInto(row, request));
      }
    },
    /**
     * Called with a lookup that got no answer of the service, and neither did any other there.
     *
     * @param sentAt when it was sent first, in ms of the clock
     * @param isAhead whether it is asked again after another loss
     * @returns whether it is sent again
     */
    silent: async (request: Request, reply: Reply, sentAt: number, isAhead: boolean): Promise<boolean> => {
      const since = silentSince ?? now();
      const isOver = (seen.get(FRONT) ?? 0) >= MAX_WAITS || answered <= waitsAfter;
      if (open === undefined ? isOver : isAhead) return false;
      const after = await (open ?? begin(waitFor(request, reply, since)));
      // What was sent while the target was down did not bring it down.
      return after === 'again' || (after === 'judged' && sentAt > since.at);
    },
    /** Whether the target was down again, so that lookups without an answer are failures. */
    isAgain: (): boolean => (seen.get(FRONT) ?? 0) >= MAX_WAITS,
    /** Finds out about all that is held. */
    settle: async (): Promise<void> => {
      for (;;) {
        await gate();
        const [first] = held;
        if (first === undefined) return;
        const { request } = first.exchange;
        const name = right.askedFor(request);
        const row = rows.get(first.name) ?? rows.get(request.endpoint);
        let isRight = name === undefined || row === undefined;
        for (let count = row?.count ?? 0; count < IN_A_ROW && !isRight; count++)
          isRight = (await right.ask(name!, count)) === undefined;
        if (isRight) release((one) => one.name === first.name);
        else await begin(lookInto(row!, request));
      }
    },
  };
}

function reasonOf(kind: Kind, reply: Reply, isEverything: boolean, { callerKeys }: Known): Loss['reason'] {
  const status = reply.kind === 'answer' ? reply.status : 0;
  if (![401, 403].includes(status)) return 'outage';
  if (kind === FRONT) return 'blocked';
  return isEverything && (callerKeys.length > 1 || status === 403) ? 'blocked' : 'key-lost';
}
