/**
 * A conforming server that shares no code with the mock and behaves differently where the interface allows it:
 * 400 before 401, other headers, other spacing, a sliding rate limit. A test can change its answers.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fixture } from '../../schemas/generated/types.ts';

/** An answer before it is sent. `what` names the rule that produced it. */
export interface Draft {
  status: number;
  body: unknown;
  what: string;
  headers: Record<string, string>;
}

export type Bend = (draft: Draft, request: IncomingMessage) => void;

export async function startOtherServer(fixture: Fixture, now: () => number, bend: Bend = () => undefined) {
  const spent = new Map<string, number[]>();
  const polls = new Map<string, number>();
  const startedAt = now();

  const isLimited = (name: string, most: number, seconds: number) => {
    const recent = (spent.get(name) ?? []).filter((at) => at > now() - seconds * 1000);
    spent.set(name, recent);
    return recent.length >= most;
  };

  const answer = (request: IncomingMessage): Draft => {
    const draft = (what: string, status: number, body: unknown): Draft => ({
      what,
      status,
      body,
      headers: {},
    });
    const url = new URL(request.url ?? '/', 'http://here');
    const isUsers = url.pathname === '/api/ib/user-status';
    if (!isUsers && url.pathname !== '/api/ib/deposit-check')
      return draft('no such path', 404, { error: 'nothing here' });
    const id = (url.searchParams.get(isUsers ? 'user_id' : 'reference_id') ?? '').toLowerCase();
    const form = isUsers
      ? /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
      : /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[89ab][\da-f]{3}-[\da-f]{12}$/;
    const [, key] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    const partner =
      fixture.apiKeys?.find((known) => known.key === key && known.state === 'active')?.partner ?? undefined;
    const account = `${isUsers} ${key}`;
    const charge = () => spent.get(account)?.push(now());
    if (!form.test(id)) {
      if (partner !== undefined && isUsers) {
        if (isLimited(account, 20, 2))
          return draft('users limited', 429, { error: 'Too many failed lookups. Please try again later.' });
        charge();
      }
      return draft('bad id', 400, {
        error: isUsers ? 'Invalid user_id format' : 'Invalid reference_id format',
      });
    }
    if (partner === undefined)
      return draft('no right', 401, { error: isUsers ? 'Unauthorized' : 'UNAUTHORIZED' });
    if (isUsers) {
      if (isLimited(account, 20, 2))
        return draft('users limited', 429, { error: 'Too many failed lookups. Please try again later.' });
      const user = fixture.users?.find(
        (known) => known.user_id.toLowerCase() === id && known.partner === partner,
      );
      if (user !== undefined)
        return draft('member', 200, {
          date_joined: user.date_joined.replace('Z', '000+00:00'),
          is_under_ib: true,
        });
      charge();
      return draft('stranger', 200, { date_joined: null, is_under_ib: false });
    }
    if (isLimited(account, 60, 2)) return draft('deposits limited', 429, { error: 'TOO_MANY_REQUESTS' });
    charge();
    const deposit = fixture.deposits?.find((known) => known.reference_id.toLowerCase() === id);
    const owner = fixture.users?.find((known) => known.user_id === deposit?.user_id)?.partner;
    const missing = (what: string) => draft(what, 404, { error: 'Deposit not found' });
    if (deposit === undefined) return missing('unknown deposit');
    if (owner !== partner) return missing('foreign deposit');
    if (deposit.state === 'failed') return missing('failed deposit');
    if (deposit.state === 'EXECUTED')
      return draft('executed', 200, {
        executedAt: deposit.executedAt,
        status: 'EXECUTED',
        amountInUsd: deposit.amountInUsd,
      });
    const count = (polls.get(id) ?? 0) + 1;
    polls.set(id, count);
    const { becomes } = deposit;
    const isDue =
      count > (becomes?.afterPolls ?? Infinity) ||
      now() >= startedAt + (becomes?.afterSeconds ?? Infinity) * 1000;
    if (becomes === undefined || !isDue) return missing('pending deposit');
    return draft('turned', 200, { executedAt: now(), status: 'EXECUTED', amountInUsd: becomes.amountInUsd });
  };

  const server = createServer((request, response) => {
    const draft = answer(request);
    draft.headers = {
      'Content-Type': 'Application/JSON; charset=UTF-8',
      'X-Request-Id': crypto.randomUUID(),
      Server: 'other',
    };
    bend(draft, request);
    response.writeHead(draft.status, draft.headers);
    response.write(' ');
    response.end(typeof draft.body === 'string' ? draft.body : JSON.stringify(draft.body, undefined, 3));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
