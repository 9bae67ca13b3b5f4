import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer, type Reply } from './answer.ts';
import { errorAnswer } from './expectations.ts';
import {
  malformedCredentials,
  misplacedKeys,
  unknownCredential,
  unknownCredentials,
  type Misplaced,
} from './inputs/credentials.ts';
import { findableId, stranger } from './inputs/uuids.ts';
import type { Known, KnownKey } from './known.ts';
import { property, spread } from './property.ts';
import { lookup, lookupOf, type Changes, type Credential, type Request } from './request.ts';
import type { Doors, Played, Requirement } from './requirement.ts';
import { observing, scenario } from './scenario.ts';
import { depends, failed, held, observed, unjudged, type Verdict } from './verdict.ts';

/** What is looked up without a right: something that is there, something that is not, nothing at all. */
type Sought = 'findable' | 'stranger' | 'missing parameter';

interface Attempt {
  readonly credential: Credential;
  readonly sought: Sought;
}

const everySought = ['findable', 'stranger', 'missing parameter'] as const;

/** Every credential against something that is there; the first ones against the rest as well. */
const attempts = (credentials: readonly Credential[]): readonly Attempt[] => [
  ...credentials.map((credential) => ({ credential, sought: 'findable' as const })),
  ...everySought
    .slice(1)
    .flatMap((sought) => spread(credentials, 3).map((credential) => ({ credential, sought }))),
];

function requestFor(endpoint: Endpoint, sought: Sought, known: Known, changes: Changes): Request {
  if (sought === 'missing parameter') return lookup(endpoint, undefined, changes);
  return lookupOf(endpoint, sought === 'findable' ? findableId(endpoint, known) : stranger(known), changes);
}

/** Requirements of one endpoint: each kind of credential that must not be let in. */
function turnsAway(endpoint: Endpoint): readonly Requirement[] {
  const unauthorized = errorAnswer(endpoint, 401);
  const isTurnedAway = ([answer]: readonly Answer[], { sought }: { readonly sought: Sought }): Verdict =>
    // Where both apply, the interface does not say which comes first; the 400 is spoken of elsewhere.
    sought === 'missing parameter' && answer!.status === 400
      ? depends(`invalid-uuid/${endpoint}/missing`)
      : unauthorized(answer!);

  const refusal = (
    name: string,
    title: string,
    credentials: (known: Known) => readonly Credential[],
    more: {
      readonly lacks?: (known: Known) => string | undefined;
      readonly given?: (known: Known) => fc.Arbitrary<Attempt>;
      readonly clause?: string;
    } = {},
  ) =>
    property<Attempt>({
      id: `auth/${endpoint}/${name}`,
      level: 'required',
      clause: 'Authentication; Errors, 401',
      title: `${title}: 401 with its exact body`,
      reading: 'With a missing parameter as well, 400 may come first.',
      every: (known) => attempts(credentials(known)),
      ask: ({ credential, sought }, known) => [requestFor(endpoint, sought, known, { credential })],
      holds: isTurnedAway,
      ...more,
    });

  const refusalOfKeys = (
    name: string,
    title: string,
    keys: (known: Known) => readonly KnownKey[],
    what: string,
  ) =>
    refusal(name, title, (known) => keys(known).map((key) => ({ as: 'key', key })), {
      lacks: (known) => (keys(known).length === 0 ? what : undefined),
    });

  return [
    refusal('missing', 'No Authorization header', () => [{ as: 'none' }]),
    refusal(
      'malformed',
      'No scheme, another scheme, an empty token, the key in two parts',
      (known) => known.callerKeys.slice(0, 1).flatMap(malformedCredentials),
      { lacks: (known) => (known.callerKeys.length === 0 ? 'active key of a partner' : undefined) },
    ),
    refusal(
      'unknown-key',
      'A key that nobody was given, also a near miss of a real one',
      unknownCredentials,
      {
        given: (known) =>
          fc.record({
            credential: unknownCredential(known),
            sought: fc.constantFrom('findable', 'stranger'),
          }),
      },
    ),
    refusalOfKeys('revoked', 'A revoked key', (known) => known.revokedKeys, 'revoked key'),
    refusalOfKeys('expired', 'An expired key', (known) => known.expiredKeys, 'expired key'),
    refusalOfKeys(
      'non-partner',
      'A key of a non-Partner account',
      (known) => known.nonPartnerKeys,
      'key of a non-Partner account (partner null)',
    ),
    property<Misplaced>({
      id: `auth/${endpoint}/header-only`,
      level: 'required',
      clause: 'Authentication: every request carries the Authorization header',
      title: 'The key in the query, a cookie, another header or a body does not let one in',
      reading: 'Any refusal will do; the words of a 401 are judged by the other requirements.',
      lacks: (known) => (known.callerKeys.length === 0 ? 'active key of a partner' : undefined),
      every: (known) => known.callerKeys.slice(0, 1).flatMap(misplacedKeys),
      ask: ({ changes, query }, known) => {
        const without = requestFor(endpoint, 'findable', known, { credential: { as: 'none' } });
        const target = query === undefined ? without.target : `${without.target}&${query}`;
        return [without, { ...without, ...changes, target }];
      },
      holds: ([without, answer]) => {
        if (isLetIn(without!)) return depends(`auth/${endpoint}/missing`);
        return isLetIn(answer!) ? failed('status', '401', summary(answer!), 1) : held;
      },
      // A front end may cut off a GET with a body.
      onTrouble: (trouble, { changes }) =>
        changes.body === undefined
          ? unjudged(trouble.code, trouble.words)
          : unjudged('depends', 'a GET with a body got no answer'),
    }),
    scenario({
      id: `auth/${endpoint}/revocation`,
      level: 'required',
      clause: 'Authentication: a revoked key yields 401',
      title: 'A key that is revoked during the run stops working',
      needsStateHook: true,
      play: (doors, known) => judgeRevocation(endpoint, doors, known),
    }),
    observing({
      id: `auth/${endpoint}/order`,
      clause: 'Errors: the order of 400 and 401 is not shown',
      title: 'Whether 400 or 401 comes first where both apply',
      play: async ({ send }) => {
        const invalid = [lookup(endpoint, undefined), lookupOf(endpoint, 'not-a-uuid')];
        const statuses = (
          await send(...invalid.map((request) => ({ ...request, credential: { as: 'none' } as const })))
        ).map(statusOf);
        const [first] = statuses;
        return observed(
          new Set(statuses).size === 1
            ? `${first} comes first`
            : `missing ${endpoints[endpoint].parameter}: ${statuses[0]}, malformed: ${statuses[1]}`,
          { missing: statuses[0], malformed: statuses[1] },
        );
      },
    }),
    observing({
      id: `auth/${endpoint}/scheme-case`,
      clause: 'RFC 9110 11.1',
      title: 'Whether the scheme may be written in another letter case',
      play: async ({ send }, known) => {
        const key = known.callerKeys[0]!;
        const spelled = ['bearer', 'BEARER'].map((scheme) =>
          lookupOf(endpoint, findableId(endpoint, known), {
            credential: { as: 'key', key, scheme },
          }),
        );
        const [lower, upper] = (await send(...spelled)).map(statusOf);
        return observed(`bearer: ${lower}, BEARER: ${upper}`, { lower, upper });
      },
    }),
  ];
}

/** Waits between the lookups with a revoked key, in ms: a cache may hold it for a moment. */
const patience = [0, 250, 500, 1000, 2000] as const;

/** Revokes a key that others do not need, if there is one, and looks whether it is still let in. */
async function judgeRevocation(endpoint: Endpoint, doors: Doors, known: Known): Promise<Played> {
  const key = known.callerKeys[1] ?? known.otherKeys[0] ?? known.callerKeys[0]!;
  const request = lookupOf(endpoint, stranger(known), { credential: { as: 'key', key } });
  const [before] = (await doors.send(request)) as [Reply];
  if (before.kind === 'trouble')
    return { finding: unjudged(before.code, before.words), request, reply: before };
  if (before.status === 401)
    return { finding: unjudged('key-refused', `${key.name} did not work before`), request, reply: before };
  const [revoked] = known.revokedKeys;
  const [control] =
    revoked === undefined ? [] : await doors.send({ ...request, credential: { as: 'key', key: revoked } });
  if (control?.kind === 'answer' && control.status !== 401)
    return { finding: depends(`auth/${endpoint}/revoked`) };
  const after = await doors.withState!('key revoked', { key: key.key }, async () => {
    let reply = before as Reply;
    for (const ms of patience) {
      await doors.wait(ms);
      [reply] = (await doors.send(request)) as [Reply];
      if (reply.kind === 'trouble' || !isLetIn(reply)) break;
    }
    return reply;
  });
  if (after.kind === 'trouble') return { finding: unjudged(after.code, after.words), request, reply: after };
  // The words of a 401 are judged by the other requirements.
  const finding = isLetIn(after) ? failed('status', '401', summary(after)) : held;
  return { finding, request, reply: after };
}

/** Whether the lookup was carried out, whatever it found. */
const isLetIn = ({ status }: Answer) => status < 400 || status === 404;

const statusOf = (reply: { kind: string; status?: number; words?: string }) => reply.status ?? reply.words;

export const auth: readonly Requirement[] = [
  ...turnsAway('user-status'),
  ...turnsAway('deposit-check'),
  observing({
    id: 'auth/service/www-authenticate',
    clause: 'RFC 9110 15.5.2',
    title: 'Whether a 401 carries WWW-Authenticate',
    play: async ({ send }, known) => {
      const requests = (['user-status', 'deposit-check'] as const).map((endpoint) =>
        lookupOf(endpoint, stranger(known), { credential: { as: 'none' } }),
      );
      const values = (await send(...requests)).map((reply) =>
        reply.kind === 'answer' ? (header(reply, 'www-authenticate') ?? 'none') : reply.words,
      );
      return observed(`user-status: ${values[0]}, deposit-check: ${values[1]}`, {
        'user-status': values[0],
        'deposit-check': values[1],
      });
    },
  }),
];
