import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Loss } from '../../schemas/generated/types.ts';
import { lossWords } from '../../schemas/progress.ts';
import type { Redact } from '../../schemas/redact.ts';
import { defined } from '../../schemas/values.ts';
import { firstWords, trouble, type Reply, type Trouble } from '../answer.ts';
import type { RunExchange } from '../judging/evaluation.ts';
import type { Request } from '../request.ts';
import {
  createRightBefore,
  examine,
  FRONT,
  isEverything,
  isOf,
  nameOf,
  type Found,
  type Kind,
  type RightBeforeOptions,
} from './right-before.ts';

export interface LossOptions extends RightBeforeOptions {
  /** Hides keys, and the secrets of header fields. */
  readonly redact: Redact;
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

/** A moment of the run: in ms of the clock, and what was sent before. */
export interface Moment {
  readonly at: number;
  readonly requests: number;
  readonly before: readonly string[];
}

/** Suspect answers in a row, to one key at an endpoint or to all keys there. */
export interface Row {
  readonly kind: Kind;
  readonly reply: Reply;
  readonly since: Moment;
  readonly expected: Set<string>;
  count: number;
}

/** A suspect answer that is not judged yet. */
export interface Held {
  readonly exchange: RunExchange;
  readonly kind: Kind;
  /** Of its key at its endpoint. */
  readonly name: string;
}

/** What becomes of lookups without an answer, once it is known what was lost. */
export type After = 'again' | 'judged';

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

/** What a run knows of a key, an address or a target that stops working. */
export const createLosses = (options: LossOptions) => ({
  options,
  right: createRightBefore(options),
  /** Rows of suspect answers, by endpoint and key, and by endpoint; and all answers of them. */
  rows: new Map<string, Row>(),
  held: [] as Held[],
  /** How often each kind was looked into. */
  seen: new Map<string, number>(),
  /** What is lost for good, by endpoint, or by endpoint and key. */
  lost: new Map<string, Trouble>(),
  all: [] as Loss[],
  /** The last requests. */
  recent: [] as string[],
  beganAt: options.clock.now(),
  lastGoodAt: options.clock.now(),
  /** Answers of the service, and after how many the run waits again for one. */
  answered: 0,
  waitsAfter: 0,
  /** How often what was asked has to be asked again. */
  excused: 0,
  /** Pages that came, and ways in which no answer came, while other lookups were right: no loss shows in them. */
  own: new Set<string>(),
  /** Since when no answer of the service came. */
  silentSince: undefined as Moment | undefined,
  /** While something is looked into: what becomes of lookups without an answer. Nothing else is sent. */
  open: undefined as Promise<After> | undefined,
  failure: undefined as { readonly error: unknown } | undefined,
});

export const momentOf = ({ options: { clock, budget }, recent }: Losses): Moment => ({
  at: clock.now(),
  requests: budget.spent(),
  before: [...recent],
});

/** Resolves when requests may be sent; undefined if they may now. @throws what went wrong while something was looked into */
export function gate({ failure, open }: Losses): Promise<unknown> | undefined {
  if (failure !== undefined) throw failure.error;
  return open;
}

/** Looks into something. Other requests wait for it. */
export function begin(losses: Losses, work: Promise<After>): Promise<After> {
  losses.open = work.finally(() => (losses.open = undefined));
  // Whoever sends next gets it.
  losses.open.catch((error: unknown) => (losses.failure ??= { error }));
  return losses.open;
}

/** Why a request cannot be sent any more. */
export const troubleOf = ({ lost, right }: Losses, request: Request): Trouble | undefined =>
  lost.size === 0 ? undefined : (lost.get(request.endpoint) ?? lost.get(nameOf(right, request)));

/** Why nothing can be asked at an endpoint any more, or with a key there. */
export const troubleAt = ({ lost }: Losses, endpoint: Endpoint, key?: string): Trouble | undefined =>
  lost.get(key === undefined ? endpoint : `${endpoint} ${key}`);

/** Notes a request that is sent. */
export function noteRequest({ recent }: Losses, { method, target }: Request): void {
  recent.push(`${method} ${target}`);
  if (recent.length > MAX_BEFORE) recent.shift();
}

/** Notes a reply, before it is known whether it is judged. */
export function noteReply(losses: Losses, isOfService: boolean): void {
  if (isOfService) losses.answered++;
  if (isOfService) losses.silentSince = undefined;
  else losses.silentSince ??= momentOf(losses);
}

/** Whether the target was down again, so that lookups without an answer are failures. */
export const wasDownAgain = ({ seen }: Losses): boolean => (seen.get(FRONT) ?? 0) >= MAX_WAITS;

/** A lookup that got no answer of the service, when it was sent first (ms of the clock), and how. */
interface Unanswered {
  readonly sentAt: number;
  /** Whether it is asked again after another loss. */
  readonly isAhead: boolean;
  /** Whether it was sent again before, as nothing was lost. */
  readonly isAlone: boolean;
}

/**
 * Called with a lookup that got no answer of the service, and neither did any other there.
 *
 * @returns whether it is sent again
 */
export async function isSentAgain(
  losses: Losses,
  request: Request,
  reply: Reply,
  how: Unanswered,
): Promise<boolean> {
  const { open, silentSince: since = momentOf(losses), answered, waitsAfter, own, options } = losses;
  // It is not sent, and so not judged.
  if (options.budget.ended() !== undefined) return true;
  const isOver = wasDownAgain(losses) || answered <= waitsAfter || own.has(wayOf(reply));
  if (open === undefined ? isOver : how.isAhead) return false;
  const after = await (open ?? begin(losses, waitFor(losses, request, reply, since, how.isAlone)));
  // What was sent while the target was down did not bring it down.
  return after === 'again' || (how.sentAt > since.at && !own.has(wayOf(reply)));
}

/** A page by its status and title, or why no answer came. */
const wayOf = (reply: Reply): string =>
  reply.kind === 'trouble' ? reply.words : `${reply.status} ${firstWords(reply).replaceAll(/\d/g, '')}`;

/** Waits for a target of which no answer came. */
async function waitFor(
  losses: Losses,
  request: Request,
  reply: Reply,
  since: Moment,
  isAlone: boolean,
): Promise<After> {
  const { seen, right, own } = losses;
  const times = seen.get(FRONT) ?? 0;
  const found = await examine(right, request);
  if (found.is === 'unknown') losses.waitsAfter = WAITS_AGAIN * losses.answered;
  if (found.is === 'none' && isAlone) own.add(wayOf(reply));
  if (found.is === 'none' || found.is === 'unknown') return isAlone ? 'judged' : 'again';
  seen.set(FRONT, times + 1);
  const isJudged = times > 0 && found.is === 'over';
  note(losses, found, { kind: FRONT, reply, since }, isJudged);
  // What was in flight may concern no requirement; what was right before always does.
  if (isJudged) judgeInVain(losses, found.inVain!);
  return isJudged ? 'judged' : 'again';
}

function judgeInVain({ options }: Losses, asked: RunExchange): void {
  const { reply } = asked;
  if (reply.kind === 'answer') options.judge(asked);
  else options.leaveOpen(asked, { ...reply, isJudged: true });
}

/** Notes a loss, and ends what is lost for good: an endpoint if none of the keys under test is left there. */
export function note(
  losses: Losses,
  found: Found,
  { kind, reply, since }: Pick<Row, 'kind' | 'reply' | 'since'>,
  isJudged = false,
): void {
  const { right, beganAt, lastGoodAt, options, lost, all } = losses;
  const { clock, budget, onLost, present, redact } = options;
  const { everyKey, callerKeys } = present.known;
  const isLost = (name: string) => found.lost.has(name);
  const names = [...right.kept.keys()];
  const endpoints = endpointNames.filter((one) => names.some((name) => isOf(one, name) && isLost(name)));
  const isOfAll = names.every((name) => isLost(name) || !endpoints.some((one) => isOf(one, name)));
  const keys = everyKey.filter(({ key }) => endpoints.some((one) => isLost(`${one} ${key}`)));
  const loss: Loss = {
    reason: reasonOf(losses, kind, reply, found),
    // Before it is cut: half a key is one, too.
    answer:
      reply.kind === 'answer' ? firstWords({ ...reply, text: redact(reply.text) }) : redact(reply.words),
    fromRequest: since.requests,
    fromSeconds: (since.at - beganAt) / 1000,
    lastRightSeconds: (lastGoodAt - beganAt) / 1000,
    before: since.before.map(redact),
    ...(found.is === 'over' && { seconds: (clock.now() - since.at) / 1000 }),
    ...(endpoints.length === 1 && defined({ endpoint: endpoints[0] })),
    ...(!isOfAll && { keys: keys.map(({ name }) => name) }),
    ...(isJudged && { isJudged }),
  };
  all.push(loss);
  if (found.is !== 'lasting') return;
  const why = trouble(loss.reason, lossWords(loss));
  const isGone = (endpoint: Endpoint) => {
    const ours = callerKeys.map(({ key }) => `${endpoint} ${key}`).filter((name) => right.kept.has(name));
    return ours.length > 0 && ours.every(isLost);
  };
  for (const one of [...endpoints.filter(isGone), ...found.lost]) lost.set(one, why);
  // A narrowed run may have asked at one endpoint only.
  const isWhole = endpointNames.every((one) => isGone(one) || !names.some((name) => isOf(one, name)));
  if (isWhole) budget.end(why);
  onLost(loss, why, isWhole);
}

/** The loss in which a reply came; undefined if nothing was lost then. */
export const lossAt = ({ all, beganAt }: Losses, reply: Reply): Loss | undefined =>
  all.find(({ fromSeconds, seconds = Infinity, isJudged }) => {
    if (reply.kind === 'trouble') return reply.isJudged === true && isJudged === true;
    const at = (reply.receivedAt - beganAt) / 1000;
    return at >= fromSeconds && at <= fromSeconds + seconds;
  });

function reasonOf({ right, options }: Losses, kind: Kind, reply: Reply, { lost }: Found): Loss['reason'] {
  const status = reply.kind === 'answer' ? reply.status : 0;
  if (![401, 403].includes(status)) return 'outage';
  if (kind === FRONT) return 'blocked';
  const isOneKey = options.present.known.callerKeys.length === 1 && status === 401;
  return isEverything(right, lost) && !isOneKey ? 'blocked' : 'key-lost';
}
