import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointNames } from '../../schemas/endpoints.ts';
import { limiterOn } from '../testing/samples.ts';
import { virtualClock } from './clock.ts';
import { runList, type Lane, type Step, type Task } from './tasks.ts';

/** A task takes so long, in ms. */
const TASK_MS = 10;

/** Runs lists on a virtual clock, and notes when their tasks begin. */
function listsOf() {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const log: string[] = [];
  const limiter = limiterOn(clock, { signal: stop.signal });
  const lane = (most = 2, isOfLookups = true): Lane => ({ most, isOfLookups, inFlight: 0 });
  /** A step with a task for each name; a time in place of a name is that of the limiter. */
  const step = (
    items: readonly (string | number)[],
    more: Partial<Step> & Pick<Task, 'isAlone'> = {},
  ): Step => {
    const left = [...items];
    const next: Step['next'] = () => {
      const [first] = left;
      if (typeof first === 'number' && clock.now() < first)
        return { endpoint: 'user-status', until: first, reason: 'rest', why: 'a limit' };
      if (typeof first === 'number') left.shift();
      const name = left.shift();
      if (name === undefined) return undefined;
      const run = async () => {
        log.push(`${name} at ${clock.now()}`);
        await clock.sleep(TASK_MS);
      };
      return { isAlone: more.isAlone === true, run };
    };
    return { name: items.join(), endpoints: ['user-status'], lane: lane(), next, ...more };
  };
  const run = async (...steps: readonly Step[]) => {
    await runList(steps, { limiter, signal: stop.signal, onBegin: () => undefined });
    return log;
  };
  return { step, lane, run, log, stop, clock };
}

test('tasks begin in their order, as many at once as the lane allows', async () => {
  const { step, lane, run } = listsOf();
  const shared = lane(2);
  const lists = [step(['a', 'b', 'c'], { lane: shared }), step(['d'], { lane: shared })];
  assert.deepEqual(await run(...lists), ['a at 0', 'b at 0', 'c at 10', 'd at 10']);
});

test('while the first waits for a limiter, later ones pass, also at the other endpoint', async () => {
  const { step, run } = listsOf();
  const other = step(['d'], { endpoints: ['deposit-check'] });
  assert.deepEqual(await run(step([50, 'a', 'b']), step(['c']), other), [
    'c at 0',
    'd at 0',
    'a at 50',
    'b at 50',
  ]);
});

test('what comes later waits for a step that holds its endpoint, and the other endpoint goes on', async () => {
  const { step, run } = listsOf();
  const both = step(['e'], { endpoints: endpointNames });
  const lists = [
    step([50, 'a'], { holds: true }),
    step(['b']),
    step(['c'], { endpoints: ['deposit-check'] }),
    both,
  ];
  assert.deepEqual(await run(...lists), ['c at 0', 'a at 50', 'b at 60', 'e at 60']);
});

test('a step that is last waits for all before it, and all after it wait for it', async () => {
  const { step, run } = listsOf();
  const lists = [
    step([50, 'a']),
    step(['b'], { isLast: true }),
    step(['c'], { endpoints: ['deposit-check'] }),
  ];
  assert.deepEqual(await run(...lists), ['a at 50', 'b at 60', 'c at 70']);
});

test('a task that is alone begins when no lookup is in flight, and none begins beside it', async () => {
  const { step, lane, run } = listsOf();
  const scenario = step(['s'], { endpoints: [], lane: lane(1, false) });
  const deposits = step(['c', 'd'], { endpoints: ['deposit-check'], lane: lane(1) });
  const lists = [scenario, deposits, step(['a', 'b'], { isAlone: true })];
  assert.deepEqual(await run(...lists), ['s at 0', 'c at 0', 'a at 10', 'd at 20', 'b at 30']);
});

test('a step ends once, after its last task, also if a limiter puts that back', async () => {
  const { step, run, log, clock } = listsOf();
  const items: Task[] = [];
  const again = { run: async () => void log.push('again') };
  items.push({
    run: async () => {
      await clock.sleep(TASK_MS);
      items.push(again);
    },
  });
  const end = async () => void log.push('end');
  await run(step([], { next: () => items.shift(), end }), step(['b'], { isLast: true }));
  assert.deepEqual(log, ['again', 'end', 'b at 10']);
});

test('an abort ends a wait, and a failure ends the list after what is in flight', async () => {
  const aborted = listsOf();
  let isOver = false;
  const endless: Step['next'] = () =>
    isOver ? undefined : { endpoint: 'user-status', until: 1e9, reason: 'rest', why: 'a limit' };
  aborted.stop.signal.addEventListener('abort', () => (isOver = true));
  setImmediate(() => aborted.stop.abort());
  await aborted.run(aborted.step([], { next: endless }));
  assert.equal(aborted.clock.now(), 0);

  const { step, run, log } = listsOf();
  const failing = step([], {
    endpoints: ['deposit-check'],
    next: () => ({ run: () => Promise.reject(new Error('ours')) }),
  });
  await assert.rejects(run(step(['a', 'b', 'c']), failing), /ours/);
  assert.ok(log.length < 3, log.join());
});
