import { createClient, realClock, type RunOptions } from '../../suites/index.ts';
import { depositCheck, userStatus, type Request } from '../../suites/request.ts';
import type { Reply } from '../../suites/answer.ts';
import { ourHeaders } from '../run-options.ts';
import type { Wishes } from './wishes.ts';

/** Looks the member and the deposit up with the key; what was not asked for comes back undefined. */
export async function askServer(
  { key, member, executed }: Wishes,
  options: Pick<RunOptions, 'target' | 'timeoutMs' | 'tls' | 'signal'>,
): Promise<readonly [membership: Reply | undefined, deposit: Reply | undefined]> {
  const client = createClient({
    ...options,
    ...options.tls,
    connections: 2,
    headers: ourHeaders,
    now: realClock.now,
  });
  const answerTo = ({ method, target }: Request) =>
    client.send({ method, target, headers: { authorization: `Bearer ${key}` } });
  try {
    return await Promise.all([
      member === undefined ? undefined : answerTo(userStatus(member)),
      executed === undefined ? undefined : answerTo(depositCheck(executed)),
    ]);
  } finally {
    await client.close();
  }
}
