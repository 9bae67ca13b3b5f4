import type { ShownKey } from './answers.ts';
import { button, element, type Content } from './element.ts';
import { mockNow } from './model.ts';
import { state, table } from './table.ts';
import { dateAndTime, duration } from './words.ts';

/** The keys, and how they can be ended. */
export function keyTable(keys: readonly ShownKey[]): HTMLElement {
  return table(
    'keys-heading',
    [
      { head: 'Key', kind: 'id' },
      { head: 'State', kind: 'text' },
      { head: 'Partner', kind: 'text' },
      { head: 'Expires', kind: 'number' },
      { head: 'Actions', kind: 'actions' },
    ],
    keys.map((key) => ({ key: key.name, cells: cellsOf(key) })),
  );
}

function cellsOf(key: ShownKey): readonly (readonly Content[])[] {
  const { name, partner } = key;
  return [
    key.key === undefined ? [name] : [key.key, element('small', {}, name)],
    [state(key.state)],
    [partner ?? 'none'],
    [expiryOf(key)],
    [
      ...(key.state === 'revoked' ? [] : [button('revoke', name, 'Revoke', name)]),
      ...(key.state === 'active' ? [button('expire', name, 'Expire', name)] : []),
    ],
  ];
}

function expiryOf({ state: now, expiresAt }: ShownKey): string | undefined {
  if (expiresAt === undefined || now === 'revoked') return undefined;
  return now === 'active' ? `in ${duration(expiresAt - mockNow())}` : dateAndTime(expiresAt);
}
