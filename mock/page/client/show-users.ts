import type { ShownUser } from './answers.ts';
import { table } from './table.ts';

/** The users, and of whose IB they are. */
export function userTable(users: readonly ShownUser[]): HTMLElement {
  return table(
    'users-heading',
    [
      { head: 'user_id', kind: 'id' },
      { head: 'Partner', kind: 'text' },
      { head: 'Joined', kind: 'number' },
    ],
    users.map(({ user_id, partner, date_joined }) => ({
      key: user_id,
      cells: [[user_id], [partner ?? 'no IB'], [date_joined]],
    })),
  );
}
