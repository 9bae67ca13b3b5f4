import type { KnownKey } from '../known.ts';
import { accountIn, joinAccounts } from './accounts.ts';
import type { Asked } from './limit.ts';
import type { Limiter } from './limiter.ts';

/**
 * Finds out with a 429 whose limit it is, if the fixture does not state it: are other keys limited that hardly asked?
 *
 * @param own another active key of the same partner
 * @param other a key of another partner
 * @param isLimited asks with a key; undefined without an answer
 */
export function learnScope(
  { accounts, learning, paced, options }: Limiter,
  asked: Asked,
  { own, other }: { readonly own: KnownKey | undefined; readonly other: KnownKey | undefined },
  isLimited: (key: KnownKey) => Promise<boolean | undefined>,
): Promise<void> | undefined {
  const { endpoint } = asked;
  if (learning.has(endpoint)) return learning.get(endpoint);
  if (accounts.scopes.has(endpoint)) return undefined;
  const { passed } = accountIn(accounts, asked);
  /** Whether a key is limited by what others sent; undefined if it may have used up a limit of its own. */
  const isLimitedToo = async (one: KnownKey): Promise<boolean | undefined> => {
    const { key, partner } = one;
    const account = accountIn(accounts, { endpoint, key, partner: partner ?? undefined });
    // Each key is kept below a stated limit.
    if (paced[endpoint] === undefined && (account.pause !== undefined || 2 * account.passed >= passed))
      return undefined;
    return account.pause !== undefined || isLimited(one);
  };
  const ask = async () => {
    const isShared = own && (await isLimitedToo(own));
    if (isShared === undefined) return;
    const isOfAll = isShared && other !== undefined && (await isLimitedToo(other)) === true;
    joinAccounts(accounts, endpoint, isShared ? (isOfAll ? 'address' : 'partner') : 'key');
    const who = isOfAll ? 'all callers' : 'the keys of the partner';
    if (isShared) options.onRemark?.(`${endpoint}: ${who} share one limit`);
  };
  const asking = ask().finally(() => learning.delete(endpoint));
  learning.set(endpoint, asking);
  return asking;
}
