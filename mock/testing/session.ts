import { endpoints } from '../../schemas/endpoints.ts';
import { answerRequest } from '../answer-request.ts';
import { entriesOf } from '../journal.ts';
import { builtIn, START } from './probes.ts';
import type { ClockMode, MockData } from '../options.ts';
import { createSession, sandboxNamed } from '../session.ts';

export const ids = {
  member: '11111111-1111-4111-8111-111111111111',
  foreignUser: '22222222-2222-4222-8222-222222222222',
  nobody: '12345678-1234-4234-8234-123456789abc',
  executed: '44444444-4444-4444-8444-444444444444',
  pending: '55555555-5555-4555-8555-555555555555',
  failed: '66666666-6666-4666-8666-666666666666',
  afterPolls: '77777777-7777-4777-8777-777777777777',
  afterSeconds: '88888888-8888-4888-8888-888888888888',
  foreign: '99999999-9999-4999-8999-999999999999',
} as const;

export const userPath = (id: string) => `${endpoints['user-status'].path}?user_id=${id}`;
export const depositPath = (id: string) => `${endpoints['deposit-check'].path}?reference_id=${id}`;

type TestOptions = Omit<MockData, 'clock'> & {
  readonly clock?: ClockMode;
  readonly elapsed?: () => number;
};

/** A session for tests over a base clock that only they move, in ms. */
export function testSession({ clock: mode, elapsed, ...options }: TestOptions = {}) {
  let base = START;
  const clock = { now: () => base, mode };
  const session = createSession({ fixture: builtIn, ...options, clock }, elapsed);
  const get = (target: string, key: string | null = 'northwind-key') =>
    answerRequest(session, {
      method: 'GET',
      target,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
    }).response;
  return {
    session,
    pass: (ms: number) => void (base += ms),
    get,
    user: (id: string, key?: string | null) => get(userPath(id), key),
    deposit: (id: string, key?: string | null) => get(depositPath(id), key),
    entries: (world = '') => entriesOf(sandboxNamed(session, world).journal, session.redact),
  };
}
