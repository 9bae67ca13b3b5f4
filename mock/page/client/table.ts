import { element, type Content } from './element.ts';

/** A row: its key, and what stands under each heading. */
export interface Row {
  readonly key: string;
  readonly cells: readonly (readonly Content[])[];
}

/** A heading, with the class of the cells under it; its text may be for those who do not see the table. */
export interface Column {
  readonly head: string;
  readonly kind: 'id' | 'text' | 'number' | 'actions';
}

/**
 * A table. Its roles are written out: on narrow screens the style lays rows out as blocks, which would
 * take them away.
 */
export function table(labelledBy: string, columns: readonly Column[], rows: readonly Row[]): HTMLElement {
  const heads = columns.map(({ head, kind }) =>
    element(
      'th',
      { role: 'columnheader', scope: 'col', class: kind },
      kind === 'actions' ? element('span', { class: 'unseen' }, head) : head,
    ),
  );
  return element(
    'table',
    { role: 'table', 'aria-labelledby': labelledBy },
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
    element('tbody', { role: 'rowgroup' }, ...rows.map((row) => rowOf(row, columns))),
  );
}

function rowOf({ key, cells }: Row, columns: readonly Column[]): HTMLElement {
  const made = cells.map((contents, index) =>
    element('td', { role: 'cell', class: columns[index]!.kind }, ...contents),
  );
  // It takes the focus of a button that is gone.
  return element('tr', { role: 'row', 'data-key': key, tabindex: '-1' }, ...made);
}

/** A button that shows more of a list, where there is more. */
export function more(list: string, shown: number, total: number): HTMLElement | undefined {
  return shown < total && shown < 1000
    ? element('p', {}, element('button', { type: 'button', 'data-do': 'more', 'data-id': list }, 'Show more'))
    : undefined;
}

/** A state in words, with a mark for the eye. */
export const state = (name: string) => element('span', { class: `state ${name.toLowerCase()}` }, name);
