import { keyNames } from '../../schemas/fixture-keys.ts';
import { tellChange } from '../controls.ts';
import { gaugesOf } from '../limiter.ts';
import { redactAdded, Refusal, timeIn, type Sandbox, type Session } from '../session.ts';
import { expiryOf, keyAt, keyOf, limitsOf, lookIn, valuesOf, type ApiKey, type Limits } from '../world.ts';
import { listed, listQuery, readItem, readPart } from './data-routes.ts';
import { ok, route, type Route } from './route.ts';

function shownLimits({ 'user-status': user, 'deposit-check': deposit }: Limits) {
  return {
    ...(user && { 'user-status': { failedLookups: user.most, windowSeconds: user.windowMs / 1000 } }),
    ...(deposit && { 'deposit-check': { requests: deposit.most, windowSeconds: deposit.windowMs / 1000 } }),
  };
}

const isPublic = (session: Session, { key }: ApiKey) => session.arePublicKeys && session.facts.keys.has(key);

/** A key by its name. The key itself is shown only if it is no secret. */
export function shownKey(session: Session, sandbox: Sandbox, key: ApiKey) {
  const expiresAt = expiryOf(sandbox.world, key);
  return {
    name: key.name,
    ...(isPublic(session, key) && { key: key.key }),
    partner: key.partner,
    state: keyAt(sandbox.world, key, timeIn(session, sandbox)).state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(key.limits && { limits: shownLimits(key.limits) }),
  };
}

function changeKey(session: Session, sandbox: Sandbox, key: ApiKey, what: string) {
  sandbox.world.keys.changed.set(key.key, key);
  tellChange(session, sandbox, `${key.name} ${what}`);
  return shownKey(session, sandbox, key);
}

const keyDescription = 'a key, or its name as GET /__admin/keys has it';
const keyField = { type: 'string', required: true, description: keyDescription } as const;

const endKey = (state: 'revoked' | 'expired', verb: 'revoke' | 'expire') =>
  route(
    `POST /keys/${verb}`,
    `Makes a key ${state} from now on; 409 if it is already.`,
    { fields: { key: keyField } },
    (session, { sandbox, fields: { key: asked } }) => {
      const { keys } = sandbox.world;
      const isNamed = ({ name }: ApiKey) => name === asked || name === `<key ${asked}>`;
      const key = lookIn(keys, asked) ?? valuesOf(keys).find(isNamed);
      // The body may hold a key: the message leaves it out.
      const unknown = 'there is no such key here; GET /__admin/keys lists their names';
      if (key === undefined) throw new Refusal(404, unknown, { place: 'key' });
      const now = keyAt(sandbox.world, key, timeIn(session, sandbox)).state;
      if (now === state || now === 'revoked')
        throw new Refusal(409, `${key.name} is ${now} already`, { state: now });
      return ok(changeKey(session, sandbox, { ...key, state }, state));
    },
  );

/** The state in the name of a key: the one that it had at first. */
const namedState = ({ name }: ApiKey) =>
  /\/(active|revoked|expired)(?:\/\d+)?>$/.exec(name)![1] as ApiKey['state'];

function limitsNow(session: Session, sandbox: Sandbox) {
  const { world, service } = sandbox;
  const gauges = gaugesOf(service.behaviour, world, timeIn(session, sandbox));
  return { limits: shownLimits(world.limits), gauges };
}

/** The keys of a world, and its limits. */
export const keyRoutes: readonly Route[] = [
  route(
    'GET /keys',
    'The names of the keys, and their current state. Keys of the built-in fixture are public, and shown.',
    { query: listQuery },
    (session, { sandbox, query }) =>
      listed('keys', query, valuesOf(sandbox.world.keys), (key) => shownKey(session, sandbox, key)),
  ),
  route(
    'POST /keys',
    'Adds a key, as a fixture would have it; expiresAfterSeconds counts from now.',
    { body: { $ref: '#/components/schemas/apiKey' } },
    (session, request) => {
      const added = readItem(session, 'apiKeys', request.body);
      const { sandbox } = request;
      const { keys } = sandbox.world;
      if (lookIn(keys, added.key) !== undefined)
        throw new Refusal(409, 'there is such a key already', { place: 'key' });
      const others = valuesOf(keys).map((key) => ({ ...key, limits: {}, state: namedState(key) }));
      const name = keyNames([...others, added]).at(-1)!;
      const key = { ...keyOf(added, name), since: timeIn(session, sandbox) };
      redactAdded(session, key);
      return ok(changeKey(session, sandbox, key, 'added'), 201);
    },
  ),
  endKey('revoked', 'revoke'),
  endKey('expired', 'expire'),
  route(
    'GET /limits',
    'The limits for all keys, and how full the windows are, with ms until they free a request.',
    {},
    (session, { sandbox }) => ok(limitsNow(session, sandbox)),
  ),
  route(
    'PUT /limits',
    'Sets the limits for all keys, as a fixture would have them; {} removes them.',
    { body: { $ref: '#/components/schemas/limits' } },
    (session, request) => {
      const { limits } = readPart({ limits: request.body ?? null }, 'limits');
      const { sandbox } = request;
      sandbox.world = { ...sandbox.world, limits: limitsOf(limits!) };
      tellChange(session, sandbox, 'limits set');
      return ok(limitsNow(session, sandbox));
    },
  ),
];
