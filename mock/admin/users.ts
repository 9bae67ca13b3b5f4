import { tell, sandboxNamed, sandboxSeen, Refusal } from '../session.ts';
import { lookIn, valuesOf } from '../world.ts';
import { listQuery, partOf } from './listing.ts';
import { readPart } from './part.ts';
import { ok, type Route } from './route.ts';

/** The users, and of whose IB they are. */
export const userRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/users',
    summary: 'The users.',
    query: listQuery,
    handle: (session, { world, query }) => {
      const all = valuesOf(sandboxSeen(session, world).world.users);
      const { items, total } = partOf(
        all,
        query,
        (holds) =>
          ({ user_id, partner }) =>
            holds(user_id) || holds(partner),
      );
      return ok({ users: items, meta: { total } });
    },
  },
  {
    method: 'POST',
    path: '/users',
    summary: 'Adds a user, as a fixture would have it.',
    body: { $ref: '#/components/schemas/user' },
    handle: (session, { world: name, body }) => {
      const { partners } = session.fixture;
      const read = readPart({ ...(partners && { partners }), users: [body ?? null] }, 'users[0]');
      const [user] = read.users!;
      const { users } = sandboxNamed(session, name).world;
      const id = user!.user_id.toLowerCase();
      if (lookIn(users, id) !== undefined)
        throw new Refusal(409, `there is a user ${user!.user_id} already`, { place: 'user_id' });
      users.changed.set(id, user!);
      tell(session.watchers, () => ({ kind: 'change', world: name, what: `user ${user!.user_id} added` }));
      return { status: 201, json: user };
    },
  },
];
