import type { RunExchange } from '../judging/evaluation.ts';
import type { Request } from '../request.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import {
  begin,
  gate,
  momentOf,
  note,
  troubleOf,
  type After,
  type Held,
  type Losses,
  type Row,
} from './losses.ts';
import {
  ask,
  askedFor,
  examine,
  expectedOf,
  FRONT,
  isEverything,
  isRefusal,
  keep,
  kindOf,
  nameOf,
  statusOf,
  varietyAt,
  type Kind,
} from './right-before.ts';

/** So many suspect answers in a row, of so many different right ones, may be a loss. */
const [IN_A_ROW, EXPECTED] = [8, 3];

/** Judges an exchange, or holds it while it is suspect. @param isWatched whether it is a single lookup */
export function take(losses: Losses, exchange: RunExchange, isWatched: boolean): void {
  const { rows, seen, right, options } = losses;
  const { judge, present, clock } = options;
  const { request, reply } = exchange;
  if (!isWatched || reply.kind === 'trouble' || reply.status === 429 || present.state !== 'as before')
    return judge(exchange);
  const facts = factsOf(present.known, request);
  const isTelling = facts?.key === 'accepted' && facts.parameter === 'plain' && !facts.isOpen;
  const kind = kindOf(right, request, reply);
  if (kind === undefined && isTelling) {
    losses.lastGoodAt = clock.now();
    if (rows.size > 0) breakRows(losses, request, reply.sentAt);
    keep(right, request, reply, facts);
  }
  const isSuspect = kind !== undefined && kind !== FRONT && right.kept.size > 0 && !seen.has(statusOf(kind));
  if (isSuspect) hold(losses, exchange, kind, facts, isTelling);
  else judge(exchange);
}

function hold(
  losses: Losses,
  exchange: RunExchange,
  kind: Kind,
  facts: Facts | undefined,
  isTelling: boolean,
): void {
  const { rows, held, right } = losses;
  const { request, reply } = exchange;
  const name = nameOf(right, request);
  const names = [name, request.endpoint];
  if (names.some((one) => (rows.get(one)?.kind ?? kind) !== kind)) breakRows(losses, request);
  held.push({ exchange, kind, name });
  for (const one of names) {
    const made = { kind, reply, since: momentOf(losses), expected: new Set<string>(), count: 0 };
    const row: Row = rows.get(one) ?? made;
    rows.set(one, row);
    // That a key is lost shows only where a right answer depends on it.
    if (facts === undefined || (isRefusal(kind) && !isTelling)) continue;
    row.count++;
    row.expected.add(expectedOf(facts));
    if (row.count < IN_A_ROW || losses.open !== undefined) continue;
    const variety = varietyAt(right, request.endpoint);
    if (variety > 1 && row.expected.size >= Math.min(EXPECTED, variety))
      void begin(losses, lookInto(losses, row, request));
  }
}

/** Judges some of what is held. */
function release(losses: Losses, isReleased: (one: Held) => boolean): void {
  for (const { exchange } of takeOut(losses, isReleased)) losses.options.judge(exchange);
}

function takeOut(losses: Losses, isTaken: (one: Held) => boolean): readonly Held[] {
  const some = losses.held.filter(isTaken);
  if (some.length > 0) losses.held = losses.held.filter((one) => !isTaken(one));
  return some;
}

/**
 * An answer breaks the rows of its key and of its endpoint. What has no key waits for the endpoint.
 *
 * @param sentAt in ms of the clock: a slow answer to what was sent before a row began tells nothing
 */
function breakRows(losses: Losses, request: Request, sentAt = Infinity): void {
  const { rows, right } = losses;
  const name = nameOf(right, request);
  const isBroken = (one: string) => sentAt >= (rows.get(one)?.since.at ?? 0);
  const [isOfKey, isOfEndpoint] = [isBroken(name), isBroken(request.endpoint)];
  if (isOfKey) rows.delete(name);
  if (isOfEndpoint) rows.delete(request.endpoint);
  release(
    losses,
    (one) => (isOfKey && one.name === name) || (isOfEndpoint && one.name === `${request.endpoint} `),
  );
}

/** Looks into a row of wrong answers of the service. */
async function lookInto(losses: Losses, row: Row, request: Request): Promise<After> {
  const { right, options, rows, seen } = losses;
  const status = statusOf(row.kind);
  const found = await examine(right, request);
  await options.untilQuiet();
  seen.set(status, 1);
  rows.clear();
  const isOfKind = ({ kind }: Held) => statusOf(kind) === status;
  // A limiter in other words, or a cache.
  const isOwn = found.is === 'over' && isRefusal(row.kind) && !isEverything(right, found.lost);
  if (isOwn) {
    release(losses, isOfKind);
    return 'again';
  }
  losses.excused++;
  if (found.is === 'over' || found.is === 'lasting') note(losses, found, row);
  for (const { exchange } of takeOut(losses, isOfKind)) {
    // A scenario asks again for itself.
    if (exchange.lookup === undefined) continue;
    const why = troubleOf(losses, exchange.request);
    if (why === undefined) await options.askAgain(exchange);
    else options.leaveOpen(exchange, why);
  }
  return 'again';
}

/** Finds out about all that is held. */
export async function settle(losses: Losses): Promise<void> {
  const { rows, right } = losses;
  for (;;) {
    await gate(losses);
    const [first] = losses.held;
    if (first === undefined) return;
    const { request } = first.exchange;
    const name = askedFor(right, request);
    const row = rows.get(first.name) ?? rows.get(request.endpoint);
    let isRight = name === undefined || row === undefined;
    for (let count = row?.count ?? 0; count < IN_A_ROW && !isRight; count++)
      isRight = (await ask(right, name!, count)) === undefined;
    // Others may have begun to look into it meanwhile.
    if (losses.open !== undefined || losses.held[0] !== first) continue;
    if (isRight) release(losses, (one) => one.name === first.name);
    else await begin(losses, lookInto(losses, row!, request));
  }
}
