import type { Known, KnownKey } from '../known.ts';
import type { Request } from '../request.ts';

/** What a request may cost at the limiter: found members are no failed lookups, all else may count. */
export function priceOf({ endpoint, target, credential }: Request, known: Known): 0 | 1 {
  if (credential.as === 'header' || credential.as === 'none') return 0;
  if (endpoint === 'deposit-check') return 1;
  const query = target.indexOf('?');
  const isLookup = target.startsWith(parameter, query + 1);
  // Whichever key of the caller's it will be, they are all of one partner.
  const key = credential.as === 'key' ? credential.key : known.callerKeys[0];
  if (!isLookup || key === undefined) return 1;
  return isOwn(known, key, target.slice(query + 1 + parameter.length).toLowerCase()) ? 0 : 1;
}

const parameter = 'user_id=';

const isOwn = (known: Known, key: KnownKey, user_id: string) =>
  key.partner !== null && known.userById.get(user_id)?.partner === key.partner;
