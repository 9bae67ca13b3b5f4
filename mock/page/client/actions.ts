import { call } from './admin.ts';
import type { Due, PartName } from './answers.ts';
import { copy } from './copy.ts';
import { draw } from './draw.ts';
import { dueWords } from './due-words.ts';
import { here, refresh } from './load.ts';
import { beginAnew, model, STEP, type ListName } from './model.ts';
import { say } from './say.ts';
import { worldName } from './show-worlds.ts';
import { duration } from './words.ts';

/** What the buttons do, by their `data-do`, to the thing of their `data-id`. */
type Action = (id: string) => Promise<void>;

/** All parts of the page. */
export const everything: readonly PartName[] = [
  'clock',
  'deposits',
  'keys',
  'users',
  'limits',
  'requests',
  'worlds',
  'magic-values',
];

const reload = (...names: readonly PartName[]) => refresh(names, draw);

async function post(
  path: string,
  body: unknown,
  said: string,
  ...changed: readonly PartName[]
): Promise<void> {
  await call('POST', here(path), body);
  say(said);
  await reload(...changed);
}

/** Moves the clock, and says what fell due. */
async function moveClock(path: string, body: unknown, said: string): Promise<void> {
  const { due } = (await call('POST', here(`clock/${path}`), body)) as { readonly due: Due };
  const words = dueWords(due);
  say(words === '' ? `${said}.` : `${said}: ${words}.`);
  await reload('clock', 'deposits', 'keys', 'limits');
}

/** Moves the clock on by so many seconds. */
export const advance = (seconds: number) =>
  moveClock('advance', { seconds }, `Clock moved on by ${duration(seconds * 1000)}`);

/** Lets the clock pass so many times as fast as time; 0 freezes it. */
export const setSpeed = (rate: number) =>
  rate === 0
    ? moveClock('freeze', undefined, 'Clock frozen')
    : moveClock('scale', { rate }, `Clock runs at ${rate}×`);

/** Shows another world. */
export async function openWorld(name: string): Promise<void> {
  beginAnew(name);
  history.replaceState(
    null,
    '',
    name === '' ? location.pathname : `?${new URLSearchParams({ world: name }).toString()}`,
  );
  say(`Showing the world ${worldName(name)}.`);
  await reload(...everything);
}

async function resetWorld(name: string): Promise<void> {
  await call('POST', `reset?${new URLSearchParams({ world: name }).toString()}`);
  say(`The world ${worldName(name)} is as the fixture has it.`);
  await reload(...everything);
}

export const actions: Readonly<Record<string, Action>> = {
  execute: (id) => post(`deposits/${id}/execute`, undefined, `Deposit ${id} executed.`, 'deposits'),
  fail: (id) => post(`deposits/${id}/fail`, undefined, `Deposit ${id} failed.`, 'deposits'),
  revoke: (id) => post('keys/revoke', { key: id }, `${id} revoked.`, 'keys'),
  expire: (id) => post('keys/expire', { key: id }, `${id} expired.`, 'keys'),
  advance: (id) => advance(Number(id)),
  'reset-clock': () => moveClock('reset', undefined, 'Clock as at first'),
  reset: () => resetWorld(model.world),
  'reset-world': resetWorld,
  'reset-all': async () => {
    if (!confirm('Reset all worlds? Tests that are running in them lose their data.')) return;
    await call('POST', 'reset');
    say('All worlds are as the fixture has them.');
    await openWorld('');
  },
  'open-world': openWorld,
  'clear-journal': async () => {
    await call('DELETE', here('requests'));
    beginAnew();
    say('Journal cleared.');
    await reload(...everything);
  },
  more: async (id) => {
    model.lists[id as ListName].limit += STEP;
    await reload(id as ListName);
  },
  copy: async (id) => {
    const line = document.querySelector(`[data-key="${CSS.escape(id)}"] code`)?.textContent ?? '';
    const isCopied = await copy(line);
    model.copied = isCopied ? id : undefined;
    draw(['magic-values']);
    say(
      isCopied
        ? `Copied the line for ${id}.`
        : 'The browser does not let this page copy; select the line instead.',
    );
  },
};
