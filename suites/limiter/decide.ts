import type { Reply } from '../answer.ts';
import type { Doors } from '../requirement.ts';
import { send, sendUntilRefused, sightingOf } from './burst.ts';
import type { Rule, Sighting } from './history.ts';
import { judge, type Judgement } from './judge.ts';
import type { Supply } from './kinds.ts';
import { beyond } from './rule.ts';

/** How far into a window a limited key is tried once more: only a bucket that is refilled, or a new window, lets it in. */
const EARLY = 0.3;

/** Added to a window before it counts as over, in ms. */
const MARGIN = 50;

/** Until the limiter lets go, where there is time for it. */
export async function isLetInAgain(
  doors: Doors,
  rule: Rule | undefined,
  history: Sighting[],
  supply: Supply,
): Promise<boolean> {
  if (doors.leftMs() < (rule?.windowMs ?? 0) + MARGIN) return false;
  return (await recover(doors, history, rule, supply)).kind === 'answer';
}

/** A second burst, and where that does not decide it a third, as long as there is time for it. */
export async function decide(
  doors: Doors,
  rule: Rule,
  history: Sighting[],
  supply: Supply,
): Promise<Judgement> {
  const second = await sendUntilRefused(doors, supply, beyond(rule));
  history.push(...second.history);
  // Nothing but weights explains it: a burst that finds nothing to be weighed tells, elsewhere in a window than the first.
  const isWeighted = (judgement: Judgement) =>
    judgement.kind !== 'broken' && judgement.manners.every((manner) => manner === 'weighted');
  const isOpen = (judgement: Judgement) =>
    isWeighted(judgement) || (judgement.kind === 'open' && !judgement.isStrictEnough);
  let judgement = judge(history, rule);
  // A bucket looks like windows that end within the first burst; none of those ends now.
  if (isOpen(judgement) && !isWeighted(judgement) && doors.leftMs() > 1.5 * rule.windowMs) {
    history.push(...(await tryEarly(doors, rule, second.history[0]?.sentAt ?? doors.now(), supply)));
    judgement = judge(history, rule);
  }
  if (!isOpen(judgement) || doors.leftMs() < (isWeighted(judgement) ? 3 : 1.5) * rule.windowMs)
    return judgement;
  if (isWeighted(judgement)) await doors.wait(1.5 * rule.windowMs);
  const reply = await recover(doors, history, rule, supply);
  if (reply.kind !== 'answer') return judge(history, rule);
  history.push(...(await sendUntilRefused(doors, supply, beyond(rule))).history);
  return judge(history, rule);
}

/** One request well before the window may end, and more if it is let in: this tells windows from buckets. */
export async function tryEarly(
  doors: Doors,
  rule: Rule,
  begun: number,
  supply: Supply,
): Promise<readonly Sighting[]> {
  const early = EARLY * rule.windowMs;
  // At once after a slow burst it would tell nothing: no bucket has won anything back.
  await doors.wait(Math.max(early / 2, begun + early - doors.now()));
  const { history, refusal, trouble } = await send(doors, supply, 1);
  if (refusal !== undefined || trouble !== undefined) return history;
  return [...history, ...(await sendUntilRefused(doors, supply, beyond(rule))).history];
}

/** Waits for a window without any request, where its length is known, and then until the key is let in. */
export async function recover(
  doors: Doors,
  history: Sighting[],
  rule: Rule | undefined,
  supply: Supply,
): Promise<Reply> {
  if (rule !== undefined) await doors.wait(rule.windowMs + MARGIN);
  const reply = await doors.patiently(supply.next(1)[0]!, (refused) => history.push(sightingOf(refused)));
  if (reply.kind === 'answer') history.push(sightingOf(reply));
  return reply;
}
