import { checkFixture } from '../../schemas/fixture.ts';
import type { Fixture, FixtureUser } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { Refusal, emitChange, type WorldHandle, type Session } from '../session.ts';
import { lookUp, valuesOf, type User } from '../world.ts';
import { integer, text, type Field, type ValuesOf } from './fields.ts';
import { operation, bySchema } from './operation.ts';

/** Maximum of items in an answer over HTTP, unless the call asks for more. */
const PAGE = 1000;

const page = {
  /** Only items with this text in an id, a partner, a name or a state, in any letter case. */
  contains: text({ description: 'only items with this text in an id, a partner, a name or a state' }),
  offset: integer(0, { description: 'how many items to skip', default: 0 }),
  limit: integer(0, { description: 'maximum number of items', default: PAGE }),
};

/** Filter and page of a list. */
export interface ListQuery extends ValuesOf<typeof page> {
  /** Only items in this state. */
  readonly state?: string | undefined;
}

/** Returns a page of the matching items, and the total number of matches. */
function toPage<Value, Item extends object>(
  all: readonly Value[],
  shown: (value: Value) => Item,
  { state, contains = '', offset = 0, limit = Infinity }: ListQuery,
) {
  const wanted = contains.trim().toLowerCase();
  const matches = (kept: Value) => {
    const { date_joined: _, ...fields } = shown(kept) as Readonly<Record<string, unknown>>;
    const holds = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(wanted);
    return (state === undefined || fields['state'] === state) && Object.values(fields).some(holds);
  };
  // Convert only the items on the page: a fixture may have a million.
  const matching = state === undefined && wanted === '' ? all : all.filter(matches);
  return { items: matching.slice(offset, offset + limit).map(shown), total: matching.length };
}

/** Declares a list of a world, with the total number of matching items. JavaScript gets all of them. */
export const listOf = <const Name extends string, Value, Item extends object>(
  name: Name,
  summary: string,
  valuesIn: (handle: WorldHandle) => readonly Value[],
  shownIn: (handle: WorldHandle) => (value: Value) => Item,
  state?: Field<string>,
) =>
  operation(`GET /${name}`, summary, {
    result: name,
    parameters: { ...(state && { state }), ...page } as typeof page & { readonly state: Field<string> },
    args: (query: ListQuery = {}) => [undefined, query],
    run: (handle, query) => {
      const { items, total } = toPage(valuesIn(handle), shownIn(handle), query);
      return { [name]: items, meta: { total } } as unknown as Listed<Name, Item>;
    },
    gives: (listed): readonly Item[] => listed[name],
  });

/** A page of a list, and the total number of its items. */
export type Listed<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & {
  readonly meta: { readonly total: number };
};

/**
 * Checks a part of a fixture like a fixture file.
 *
 * @param within place of the part in the fixture, such as `deposits[0]`
 * @throws Refusal with 400 and the first wrong place
 */
export function readPart(fixture: unknown, within = ''): Fixture {
  try {
    return checkFixture(fixture, '', {});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error.message
      .split('\n')
      .map((line) =>
        line.replace(/^: /, '').replace(within, '').replace(/^ /, 'the body ').replace(/^\./, ''),
      );
    const [first = ''] = problems;
    const [, ofWhole] = /^the (?:body|fixture) (?:lacks|has an unknown key) "(.*?)"/.exec(first) ?? [];
    const [, place = 'body'] = /^(?!the )([\w$.[\]-]+)[ :]/.exec(first) ?? [];
    throw new Refusal(400, problems.join('\n'), { place: ofWhole ?? place });
  }
}

/** Checks an item like one of a fixture file; `users` are those that it may refer to. */
export function readItem<List extends 'users' | 'deposits' | 'apiKeys'>(
  { fixture: { partners } }: Session,
  list: List,
  item: unknown = null,
  users: Fixture['users'] = [],
) {
  const read = readPart({ ...(partners && { partners }), users, [list]: [item] }, `${list}[0]`);
  return read[list]![0] as NonNullable<Fixture[List]>[number];
}

export const users = {
  list: listOf(
    'users',
    'The users.',
    ({ peek }) => valuesOf(peek().world.users),
    () => (user: User) => user,
  ),
  add: operation('POST /users', 'Adds a user in the format of the fixture.', {
    result: 'user',
    body: bySchema<FixtureUser>('user'),
    status: 201,
    args: (user: FixtureUser) => [user],
    run: ({ session, open }, given): User => {
      const user = readItem(session, 'users', given);
      const sandbox = open();
      const id = user.user_id.toLowerCase();
      if (lookUp(sandbox.world.users, id) !== undefined)
        throw new Refusal(409, `the user ${user.user_id} exists already`, { place: 'user_id' });
      sandbox.world.users.changed.set(id, user);
      emitChange(session, sandbox, `user ${user.user_id} added`);
      return user;
    },
  }),
};
