import type { PartName } from './answers.ts';
import { byId } from './element.ts';
import { model, type ListName } from './model.ts';
import { morphChildren } from './morph.ts';
import { drawClock } from './show-clock.ts';
import { depositTable } from './show-deposits.ts';
import { examples } from './show-examples.ts';
import { journalRows } from './show-journal.ts';
import { keyTable } from './show-keys.ts';
import { gauges, thresholds } from './show-limiters.ts';
import { userTable } from './show-users.ts';
import { worldName, worldOptions, worldTable } from './show-worlds.ts';
import { more } from './table.ts';
import { firstOf } from './words.ts';

const drawn: { readonly [Name in PartName]: () => void } = {
  clock: () => model.answers.clock && drawClock(model.answers.clock),
  deposits: () => {
    const answer = model.answers.deposits;
    if (answer) drawList('deposits', answer.deposits.length, depositTable(answer.deposits, answer));
  },
  keys: () => {
    const answer = model.answers.keys;
    if (answer) drawList('keys', answer.keys.length, keyTable(answer.keys));
  },
  users: () => {
    const answer = model.answers.users;
    if (answer) drawList('users', answer.users.length, userTable(answer.users));
  },
  limits: () => {
    const answer = model.answers.limits;
    if (!answer) return;
    const { rows, words } = gauges(answer);
    byId('limits').textContent = thresholds(answer);
    byId('limiters-count').textContent = words;
    morphChildren(byId('gauges'), rows);
  },
  requests: () => {
    byId('journal-count').textContent = model.journal.length === 0 ? 'nothing yet' : 'newest first';
    morphChildren(byId('journal'), journalRows(model.journal));
  },
  worlds: () => {
    const names = model.answers.worlds?.worlds ?? [];
    const select = byId('world') as HTMLSelectElement;
    morphChildren(select, worldOptions(names));
    select.value = model.world;
    morphChildren(byId('worlds-table'), worldTable(names));
    document.title = `${model.world === '' ? '' : `${worldName(model.world)} · `}ib-conformance mock`;
  },
  'magic-values': () => {
    const answer = model.answers['magic-values'];
    if (answer) morphChildren(byId('examples'), examples(answer));
  },
};

/** Draws these parts as they are by now. */
export function draw(names: readonly PartName[]): void {
  for (const name of names) drawn[name]();
}

function drawList(name: ListName, shown: number, table: HTMLElement): void {
  const total = model.answers[name]?.meta.total ?? 0;
  const isFiltered = model.lists[name].contains !== '';
  byId(`${name}-count`).textContent = isFiltered
    ? `${firstOf(shown, total)} that fit`
    : firstOf(shown, total);
  morphChildren(byId(`${name}-table`), [
    table,
    ...[more(name, shown, total)].filter((node) => node !== undefined),
  ]);
}
