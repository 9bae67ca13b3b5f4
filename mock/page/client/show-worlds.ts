import { button, element } from './element.ts';
import { model } from './model.ts';
import { table } from './table.ts';
import { counted } from './words.ts';

/** So many worlds are shown, those used last. */
const MOST_WORLDS = 50;

/** What the main world is called where a name is needed. */
export const worldName = (world: string) => (world === '' ? 'main' : world);

/** Those to choose from, the one that is shown among them. */
export function worldOptions(names: readonly string[]): readonly HTMLElement[] {
  const known = names.includes(model.world) || model.world === '' ? names : [model.world, ...names];
  return ['', ...known].map((name) =>
    element(
      'option',
      { value: name, 'data-key': name, selected: name === model.world ? '' : undefined },
      worldName(name),
    ),
  );
}

/** The worlds beside the main one, with a way into each. */
export function worldTable(names: readonly string[]): readonly HTMLElement[] {
  if (names.length === 0) return [element('p', { class: 'quiet' }, 'Only the main one so far.')];
  const shown = names.toReversed().slice(0, MOST_WORLDS);
  const rows = shown.map((name) => ({
    key: name,
    cells: [
      [name, name === model.world ? element('small', {}, 'shown here') : undefined],
      [
        ...(name === model.world ? [] : [button('open-world', name, 'Open', `world ${name}`)]),
        button('reset-world', name, 'Reset', `world ${name}`),
      ],
    ],
  }));
  return [
    table(
      'worlds-heading',
      [
        { head: 'Name', kind: 'id' },
        { head: 'Actions', kind: 'actions' },
      ],
      rows,
    ),
    ...(shown.length < names.length
      ? [element('p', { class: 'quiet' }, `The last ${MOST_WORLDS} of ${counted(names.length)}.`)]
      : []),
  ];
}
