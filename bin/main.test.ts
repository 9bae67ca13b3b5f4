import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { abortOnSignals, wantsColor, type OutputKind } from './main.ts';

for (const [first, second] of [
  ['SIGINT', 'SIGTERM'],
  ['SIGHUP', 'SIGHUP'],
] as const)
  test(`${first} aborts, and a following ${second} ends at once`, () => {
    const signalled = new EventEmitter();
    let ended = 0;
    const signal = abortOnSignals(signalled, () => void (ended += 1));
    assert.deepEqual([signal.aborted, ended], [false, 0]);
    signalled.emit(first, first);
    assert.deepEqual([signal.aborted, signal.reason, ended], [true, first, 0]);
    signalled.emit(second, second);
    assert.equal(ended, 1);
  });

const cases: readonly (readonly [env: Record<string, string>, kind: OutputKind, wants: boolean])[] = [
  [{}, 'terminal', true],
  [{}, 'pipe', false],
  [{ TERM: 'dumb' }, 'terminal', false],
  [{ NO_COLOR: '1' }, 'terminal', false],
  [{ FORCE_COLOR: '0' }, 'terminal', false],
  [{ FORCE_COLOR: '1' }, 'pipe', true],
  [{ FORCE_COLOR: '' }, 'pipe', false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, 'pipe', true],
  [{ GITHUB_ACTIONS: 'true' }, 'pipe', true],
  [{ GITLAB_CI: 'true', NO_COLOR: '1' }, 'pipe', false],
  [{ GITHUB_ACTIONS: 'true' }, 'file', false],
  [{ FORCE_COLOR: '1' }, 'file', true],
];

for (const [env, kind, wants] of cases)
  test(`${JSON.stringify(env)}, ${kind}: ${wants ? 'colour' : 'none'}`, () =>
    assert.equal(wantsColor(env, kind), wants));
