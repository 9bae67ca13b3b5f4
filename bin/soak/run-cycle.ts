import type { Fixture } from '../../schemas/generated/types.ts';
import { drawer } from '../fixture/random.ts';
import { admin } from './admin.ts';
import { exchange, open, type Sent } from './connection.ts';
import { bytesOf, requestsFrom } from './draw-requests.ts';
import { wrongOf, type Answered } from './judge-round.ts';
import { oracleOf } from './oracle.ts';
import { rounds, type Round } from './rounds.ts';

/** Requests of a cycle through all rounds. */
export const CYCLE = 20_000;

/** Connections that ask at once. */
const CLIENTS = 8;

/** What a soak goes by, and what came of it so far. */
export interface Soaked {
  readonly port: number;
  readonly seed: number;
  /** On which rounds are run in turn. */
  readonly fixtures: readonly Fixture[];
  readonly wrong: string[];
  checked: number;
  lost: number;
}

function withLimit({ limits: _, ...fixture }: Fixture, most: number | undefined): Fixture {
  if (most === undefined) return fixture;
  const windowSeconds = 3600;
  return {
    ...fixture,
    limits: {
      'user-status': { failedLookups: most, windowSeconds },
      'deposit-check': { requests: most, windowSeconds },
    },
  };
}

/** One round on a fixture that is loaded anew, from the request of an index on. */
async function runRound(
  soaked: Soaked,
  round: Round,
  fixture: Fixture,
  from: number,
  count: number,
): Promise<void> {
  const { port, seed } = soaked;
  await admin(port, 'PUT', 'fixture', withLimit(fixture, round.most));
  await admin(port, 'PUT', 'faults', { chaos: round.chaos, seed: from });
  const drawn = requestsFrom(fixture, drawer(seed), round.worlds);
  const oracle = oracleOf(fixture);
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const own = Array.from({ length: Math.ceil((count - client) / CLIENTS) }, (__, at) =>
        drawn(from + client + at * CLIENTS),
      );
      const sent: readonly Sent[] = own.map((asked) => ({
        bytes: bytesOf(asked),
        isHead: asked.method === 'HEAD',
      }));
      const heard = await exchange(port, sent, round.depth, round.patience);
      return own.map((asked, at): Answered => ({ asked, expected: oracle(asked), heard: heard[at]! }));
    }),
  );
  const all = answers.flat();
  soaked.wrong.push(...wrongOf(round, all));
  soaked.checked += all.length;
  soaked.lost += all.filter(({ heard }) => heard === 'lost').length;
  await admin(port, 'PUT', 'faults', { chaos: null });
}

/** What else goes on: lookers-on that leave, rubbish, and whoever looks at all that there is. */
async function disturb({ port, seed }: Soaked): Promise<void> {
  const rubbish = [
    '\0\0\0',
    'GET',
    'GET / HTTP/1.1\r\nX',
    'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1',
    `GET /${'a'.repeat(70_000)}`,
  ];
  for (const bytes of [
    ...rubbish,
    ...rubbish.map(() => 'GET /__admin/events HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  ]) {
    const socket = await open(port);
    socket?.write(bytes, 'latin1', () => socket.destroy());
  }
  for (const path of [
    'requests',
    'requests?world=world-7',
    'scorecard',
    'keys',
    'limits',
    'worlds',
    'deposits?limit=5',
  ])
    await admin(port, 'GET', path);
  await admin(port, 'POST', 'keys', { key: `of-a-test-${seed}`, partner: null, state: 'active' });
  await admin(port, 'POST', 'reset?world=world-7');
  await admin(port, 'POST', 'reset');
}

/** All rounds once, and what disturbs between them. Each cycle has other requests. */
export async function runCycle(soaked: Soaked, cycle: number): Promise<void> {
  let from = cycle * CYCLE;
  for (const [nth, round] of rounds.entries()) {
    const count = Math.round(round.share * CYCLE);
    await runRound(soaked, round, soaked.fixtures[(cycle + nth) % soaked.fixtures.length]!, from, count);
    from += count;
  }
  await disturb(soaked);
}
