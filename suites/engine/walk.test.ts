import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Requirement } from '../requirement.ts';
import { walk } from './walk.ts';

const named = (id: string, kind: Requirement['kind'] = 'property') => ({ id, kind }) as Requirement;
const [first, second, story] = [named('first'), named('second'), named('story', 'scenario')];

const settled = () => new Promise(setImmediate);

/** Work that ends when it is told to, and what became of it. */
function scripted() {
  const log: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const begins = new Map<string, () => void>();
  return {
    log,
    work: ({ id }: Requirement, inputs: number, onBegun: () => void) => {
      log.push(`${id} ${inputs}`);
      begins.set(id, onBegun);
      return new Promise<void>((resolve, reject) => {
        ends.set(id, (error) => {
          log.push(`end of ${id}`);
          if (error === undefined) resolve();
          else reject(error);
        });
      });
    },
    begun: (id: string) => {
      begins.get(id)!();
      return settled();
    },
    end: (id: string, error?: Error) => {
      ends.get(id)!(error);
      return settled();
    },
  };
}

test('the next begins when nothing is left to begin, its own turns follow each other', async () => {
  const { log, work, begun, end } = scripted();
  const walked = walk([first, second], [1, 4], work);
  await settled();
  assert.deepEqual(log.splice(0), ['first 1']);
  await begun('first');
  assert.deepEqual(log.splice(0), ['second 1']);
  await begun('second');
  assert.deepEqual(log.splice(0), [], 'its last turn is under way');
  await end('first');
  assert.deepEqual(log.splice(0), ['end of first', 'first 4']);
  await end('first');
  await end('second');
  assert.deepEqual(log.splice(0), ['end of first', 'end of second', 'second 4']);
  await end('second');
  await walked;
});

test('work that never says so is waited for', async () => {
  const { log, work, end } = scripted();
  const walked = walk([first, second], [1], work);
  await settled();
  await end('first');
  assert.deepEqual(log.splice(0), ['first 1', 'end of first', 'second 1']);
  await end('second');
  await walked;
});

test('a story begins when all before it has ended, and what follows waits for it', async () => {
  const { log, work, begun, end } = scripted();
  const walked = walk([first, story, second], [1], work);
  await settled();
  await begun('first');
  assert.deepEqual(log.splice(0), ['first 1']);
  await end('first');
  assert.deepEqual(log.splice(0), ['end of first', 'story 1']);
  await end('story');
  assert.deepEqual(log.splice(0), ['end of story', 'second 1']);
  await end('second');
  await walked;
});

test('an error comes out, also of what was not waited for', async () => {
  const { work, begun, end } = scripted();
  const refused = assert.rejects(walk([first, second], [1], work), /ours/);
  await settled();
  await begun('first');
  await end('first', new RangeError('ours'));
  await end('second');
  await refused;
});
