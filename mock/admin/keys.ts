import { keyNames } from '../../schemas/fixture-keys.ts';
import {
  tell,
  redactAdded,
  sandboxNamed,
  sandboxSeen,
  timeIn,
  type Sandbox,
  type Session,
  Refusal,
} from '../session.ts';
import { expiryOf, keyAt, lookIn, valuesOf, keyOf, type ApiKey } from '../world.ts';
import { fieldsOf, needed, textAt } from './fields.ts';
import { shownLimits } from './limits.ts';
import { listQuery, partOf } from './listing.ts';
import { readPart } from './part.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

const isPublic = (session: Session, { key }: ApiKey) => session.arePublicKeys && session.facts.keys.has(key);

/** A key as it may be shown: by its name, and by itself only where it is no secret. */
function shownKey(session: Session, sandbox: Sandbox, key: ApiKey) {
  const now = timeIn(session, sandbox);
  const expiresAt = expiryOf(sandbox.world, key);
  return {
    name: key.name,
    ...(isPublic(session, key) && { key: key.key }),
    partner: key.partner,
    state: keyAt(sandbox.world, key, now).state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(key.limits && { limits: shownLimits(key.limits) }),
  };
}

/** The key of the body, by itself or by its name, with or without `<key …>` around it. */
function named(session: Session, { world, body }: AdminRequest) {
  const sandbox = sandboxNamed(session, world);
  const asked = needed(
    'key',
    textAt(fieldsOf(body, ['key']), 'key'),
    'a key, or its name as GET /__admin/keys has it',
  );
  const key =
    lookIn(sandbox.world.keys, asked) ??
    valuesOf(sandbox.world.keys).find(({ name }) => name === asked || name === `<key ${asked}>`);
  // What was asked for may be a key: it is not repeated.
  if (key === undefined)
    throw new Refusal(404, 'there is no such key here; GET /__admin/keys lists their names', {
      place: 'key',
    });
  return { sandbox, key };
}

function change(session: Session, sandbox: Sandbox, key: ApiKey, what: string): void {
  sandbox.world.keys.changed.set(key.key, key);
  tell(session.watchers, () => ({ kind: 'change', world: sandbox.name, what: `${key.name} ${what}` }));
}

function end(state: 'revoked' | 'expired', verb: string): Route {
  return {
    method: 'POST',
    path: `/keys/${verb}`,
    summary: `Lets a key be ${state} from now on. 409 where it is already.`,
    body: { type: 'object', required: ['key'], properties: { key: { type: 'string' } } },
    handle: (session, request) => {
      const { sandbox, key } = named(session, request);
      const now = keyAt(sandbox.world, key, timeIn(session, sandbox));
      if (now.state === state || now.state === 'revoked')
        throw new Refusal(409, `${key.name} is ${now.state} already`, { state: now.state });
      change(session, sandbox, { ...key, state }, state);
      return ok(shownKey(session, sandbox, { ...key, state }));
    },
  };
}

/** The keys, by their names. */
export const keyRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/keys',
    summary:
      'The keys in their state of now, by names; those of the built-in fixture are no secrets and are shown.',
    query: listQuery,
    handle: (session, { world: name, query }) => {
      const sandbox = sandboxSeen(session, name);
      const now = timeIn(session, sandbox);
      const { items, total } = partOf(
        valuesOf(sandbox.world.keys),
        query,
        (holds) => (key) =>
          holds(key.name) ||
          holds(key.partner) ||
          holds(keyAt(sandbox.world, key, now).state) ||
          (isPublic(session, key) && holds(key.key)),
      );
      return ok({ keys: items.map((key) => shownKey(session, sandbox, key)), meta: { total } });
    },
  },
  {
    method: 'POST',
    path: '/keys',
    summary: 'Adds a key, as a fixture would have it; expiresAfterSeconds counts from now.',
    body: { $ref: '#/components/schemas/apiKey' },
    handle: (session, { world: name, body }) => {
      const { partners } = session.fixture;
      const read = readPart({ ...(partners && { partners }), apiKeys: [body ?? null] }, 'apiKeys[0]');
      const added = read.apiKeys![0]!;
      const sandbox = sandboxNamed(session, name);
      const { keys } = sandbox.world;
      if (lookIn(keys, added.key) !== undefined)
        throw new Refusal(409, 'there is such a key already', { place: 'key' });
      const names = keyNames([...fixtureStates(session, valuesOf(keys)), added]);
      const key = { ...keyOf(added, names.at(-1)!), since: timeIn(session, sandbox) };
      change(session, sandbox, key, 'added');
      redactAdded(session, key);
      return { status: 201, json: shownKey(session, sandbox, key) };
    },
  },
  end('revoked', 'revoke'),
  end('expired', 'expire'),
];

/** Names are given by the first state of a key, whatever has become of it. */
const fixtureStates = (session: Session, keys: readonly ApiKey[]) =>
  keys.map(({ key, partner, state, name }) => ({
    key,
    partner,
    state: session.facts.keys.get(key)?.state ?? stateIn(name) ?? state,
  }));

function stateIn(name: string): ApiKey['state'] | undefined {
  return (['active', 'revoked', 'expired'] as const).find((state) => name.includes(`/${state}`));
}
