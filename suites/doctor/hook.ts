import type { Known } from '../known.ts';
import type { StateHook } from '../requirement.ts';
import type { Clock } from '../engine/clock.ts';
import { bad, good, unknown, type Finding } from './finding.ts';
import { late, within } from './within.ts';

const mend =
  'Give the URL that takes a POST of { "state": …, "params": …, "action": "setup" or "teardown" } and answers 2xx once it is done.';

/** Statuses of a URL behind which there is no hook. */
const nothingThere: ReadonlySet<number> = new Set([401, 403, 404, 405]);

/**
 * Whether the state hook answers. It is asked to take back what was never brought about, so that nothing
 * changes: a pending deposit stays pending, an active key active.
 *
 * @param ms that it may take
 */
export async function judgeHook(
  hook: StateHook,
  known: Known,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
  ms: number,
): Promise<Finding> {
  const [deposit] = known.pending;
  const [key] = known.callerKeys.toReversed();
  const back = () =>
    deposit === undefined
      ? hook.change('teardown', 'key revoked', { key: key?.key })
      : hook.change('teardown', 'deposit executed', { reference_id: deposit.reference_id });
  if (deposit === undefined && key === undefined)
    return unknown('not asked: the fixture has neither a pending deposit nor an active key to ask it about');
  try {
    const outcome = await within(options, ms, back);
    return outcome === late
      ? bad(`no answer within ${Math.round(ms)} ms`, mend)
      : good('answers, and takes a teardown');
  } catch (error) {
    const { message, status } = error as Error & { readonly status?: number };
    const isOdd = status !== undefined && status >= 400 && !nothingThere.has(status);
    // It may well refuse to take back what was never brought about.
    return isOdd ? unknown(`${message}, which nobody had set up`) : bad(message, mend);
  }
}
