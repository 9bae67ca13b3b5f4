import { endpoints } from '../../schemas/endpoints.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { pick, type Draw } from '../fixture/random.ts';
import type { Asked } from './oracle.ts';

/** What a number is drawn for. */
const purposes = { kind: 100, id: 101, key: 102, extra: 103, endpoint: 104, world: 105 } as const;

const notIds = ['', 'x', '11111111-1111-4111-8111-11111111111', '{}', '%00', '..%2f', 'null', '%'] as const;
const notMethods = ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const;
const notPaths = [
  '/',
  '/api/ib/user-status/',
  '/api/ib',
  '/x?y=z',
  '/%2e%2e/etc/passwd',
  '/favicon.ico',
] as const;

/** Digits of a UUID that no fixture has. */
const unknownId = (drawn: number) => `f0f0f0f0-f0f0-4f0f-8f0f-f0f0${drawn.toString(16).padStart(8, '0')}`;

/**
 * The request of an index: of a hundred about seventy look something up (members, executed, pending, foreign
 * and unknown in turns as the fixture has them), the others are wrong in one way or another.
 *
 * @param worlds how many names of worlds are drawn from; 0: all are asked in the main one
 */
export function requestsFrom(fixture: Fixture, draw: Draw, worlds: number): (index: number) => Asked {
  const { users = [], deposits = [], apiKeys = [] } = fixture;
  const good = apiKeys.filter(({ partner, state }) => partner !== null && state === 'active');
  const bad = apiKeys.filter((key) => !good.includes(key)).map(({ key }) => key);
  const userIds = users.map(({ user_id }) => user_id);
  const referenceIds = deposits.map(({ reference_id }) => reference_id);
  return (index) => {
    const drawn = (purpose: keyof typeof purposes) => draw(purposes[purpose], index);
    const isUsers = drawn('endpoint') % 2 === 0;
    const ids = isUsers ? userIds : referenceIds;
    // Half of the calls are those of the first partner, as half of the users are its own.
    const key = drawn('key') % 2 === 0 ? good[0]!.key : pick(good, drawn('key') >>> 1).key;
    const looked = {
      method: drawn('extra') % 8 === 0 ? 'HEAD' : 'GET',
      path: isUsers ? 'user-status' : 'deposit-check',
      id: pick(ids, drawn('id')),
      isId: true,
      key,
      world: worlds === 0 ? '' : `world-${drawn('world') % worlds}`,
    } as const;
    const kind = drawn('kind') % 100;
    if (kind < 60) return looked;
    if (kind < 65) return { ...looked, id: looked.id.toUpperCase() };
    if (kind < 72) return { ...looked, id: unknownId(drawn('extra')) };
    if (kind < 80) return { ...looked, id: pick(notIds, drawn('extra')), isId: false };
    if (kind < 82) return { ...looked, id: undefined };
    // Now and then one of 60 KiB: a journal must not keep a thousand of them.
    if (kind < 83) return { ...looked, id: `${drawn('extra')}`.repeat(6000), isId: false };
    if (kind < 88) return { ...looked, key: pick(bad, drawn('extra')) };
    if (kind < 91) return { ...looked, key: `unknown-${drawn('extra')}` };
    if (kind < 93) return { ...looked, key: undefined };
    if (kind < 97) return { ...looked, method: pick(notMethods, drawn('extra')) };
    return { ...looked, path: pick(notPaths, drawn('extra')) };
  };
}

/** A request as it is sent. */
export function bytesOf({ method, path, id, key, world }: Asked): string {
  const isOther = path !== 'user-status' && path !== 'deposit-check';
  const { path: known, parameter } = isOther ? { path, parameter: '' } : endpoints[path];
  const target = isOther || id === undefined ? known : `${known}?${parameter}=${id}`;
  const field = key === undefined ? '' : `Authorization: Bearer ${key}${world === '' ? '' : `~${world}`}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${field}\r\n`;
}
