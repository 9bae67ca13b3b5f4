/** The admin page: shows what the mock is doing, and does to it what the admin API can. */
import { Refused } from './admin.ts';
import { actions, advance, everything, openWorld, setSpeed } from './actions.ts';
import type { PartName } from './answers.ts';
import { draw } from './draw.ts';
import { byId, fieldById } from './element.ts';
import { refresh } from './load.ts';
import { beginAnew, model, type ListName } from './model.ts';
import { nextChangeIn } from './next-change.ts';
import { say } from './say.ts';
import { askForToken, showMain } from './sign-in.ts';
import { takeEvent } from './take-event.ts';
import { watch } from './watch.ts';

/** How often (ms) the clock and what is counted down are drawn. */
const TICK = 250;

/** Parts that change by the passing of time. */
const passing: readonly PartName[] = ['clock', 'deposits', 'keys', 'limits'];

/** How long (ms) nobody types before a filter is asked for. */
const PAUSE = 200;

let typing: ReturnType<typeof setTimeout> | undefined;
let due: ReturnType<typeof setTimeout> | undefined;

function reload(names: readonly PartName[]): void {
  void attempt(async () => {
    await refresh(names, draw);
    clearTimeout(due);
    const wait = nextChangeIn();
    if (wait !== undefined && wait < 2 ** 31) due = setTimeout(() => reload(passing), wait + 20);
  });
}

/** Does something, and says why where the mock does not let it. */
async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return needToken(error);
    say(error instanceof Refused ? error.message : 'The mock cannot be reached.');
  }
}

let hasAsked = false;

function needToken({ message }: Refused): void {
  if (byId('sign-in').hidden) askForToken(() => void open(), hasAsked ? message : '');
  hasAsked = true;
}

async function open(): Promise<void> {
  byId('sign-in').hidden = true;
  await watch({
    onConnection: (isConnected) => {
      byId('connection').textContent = isConnected ? 'Live' : 'Not connected, trying again';
      byId('connection').classList.toggle('live', isConnected);
      if (!isConnected) return;
      showMain(true);
      // Another mock may have taken the place of the one that went.
      beginAnew();
      reload(everything);
    },
    onEvent: (event) => {
      const outdated = takeEvent(event);
      drawSoon(outdated.draw);
      if (outdated.load.length > 0) reload(outdated.load);
    },
    onRefused: needToken,
  });
}

const waiting = new Set<PartName>();

/** Draws at most once for each picture of the screen. */
function drawSoon(names: readonly PartName[]): void {
  if (waiting.size === 0 && names.length > 0)
    requestAnimationFrame(() => {
      draw([...waiting]);
      waiting.clear();
    });
  for (const name of names) waiting.add(name);
}

function onSubmit(form: string, action: (text: string) => Promise<void>, field: string): void {
  byId(form).addEventListener('submit', (event) => {
    event.preventDefault();
    const input = fieldById(field);
    const { value } = input;
    if (value !== '') void attempt(() => action(value)).then(() => (input.value = ''));
  });
}

document.addEventListener('click', ({ target }) => {
  const pressed = (target as Element).closest<HTMLElement>('[data-do]');
  const action = actions[pressed?.dataset['do'] ?? ''];
  if (action !== undefined) void attempt(() => action(pressed?.dataset['id'] ?? ''));
});
document.addEventListener('input', ({ target }) => {
  const { value, dataset } = target as HTMLInputElement;
  const list = dataset['filter'] as ListName | undefined;
  if (list === undefined) return;
  model.lists[list].contains = value.trim();
  clearTimeout(typing);
  typing = setTimeout(() => reload([list]), PAUSE);
});
byId('speeds').addEventListener('change', ({ target }) => {
  void attempt(() => setSpeed(Number((target as HTMLInputElement).value)));
});
byId('world').addEventListener('change', ({ target }) => {
  void attempt(() => openWorld((target as HTMLSelectElement).value));
});
onSubmit('advance-form', (seconds) => advance(Number(seconds)), 'seconds');
onSubmit('world-form', openWorld, 'world-name');
setInterval(() => draw(passing), TICK);
void open();
