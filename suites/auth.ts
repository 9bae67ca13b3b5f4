import { endpointNames, endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer, type Reply } from './answer.ts';
import { findableId, stranger } from './inputs/uuids.ts';
import { lookup, lookupOf } from './request.ts';
import {
  observing,
  observingEach,
  required,
  scenario,
  sendUntil,
  statusOf,
  type Requirement,
  type Rule,
  type Scenario,
} from './requirement.ts';
import { depends, failed, held, judged, observed, unjudged } from './verdict.ts';

const keyless = { credential: { as: 'none' } } as const;

/** Requirements of one endpoint: each kind of credential that must not be let in. */
function turnsAway(endpoint: Endpoint): readonly Requirement[] {
  const refusal = (name: string, title: string, needs?: Rule['needs'], provedBy?: Rule['provedBy']) =>
    required({
      id: `auth/${endpoint}/${name}`,
      clause: 'Authentication; Errors, 401',
      title: `${title}: 401 with its exact body`,
      reading: 'With a missing or malformed parameter as well, 400 may come first.',
      ...(needs && { needs }),
      ...(provedBy && { provedBy }),
    });
  return [
    refusal('missing', 'No Authorization header'),
    refusal('malformed', 'No scheme, another scheme, an empty token, the key in two parts'),
    refusal('unknown-key', 'A key that nobody was given, also a near miss of a real one'),
    refusal('revoked', 'A revoked key', 'revoked key', [`auth/${endpoint}/revocation`]),
    refusal('expired', 'An expired key', 'expired key', []),
    refusal(
      'non-partner',
      'A key of a non-Partner account',
      'key of a non-Partner account (partner null)',
      [],
    ),
    required({
      id: `auth/${endpoint}/header-only`,
      clause: 'Authentication: every request carries the Authorization header',
      title: 'The key in the query, a cookie, another header or a body does not let one in',
      reading: 'Any refusal will do; the words of a 401 are judged by the other requirements.',
    }),
    scenario({
      id: `auth/${endpoint}/revocation`,
      level: 'required',
      clause: 'Authentication: a revoked key yields 401',
      title: 'A key that is revoked during the run stops working',
      needsStateHook: true,
      run: judgeRevocation(endpoint),
    }),
    observing({
      id: `auth/${endpoint}/order`,
      clause: 'Errors: the order of 400 and 401 is not shown',
      title: 'Whether 400 or 401 comes first where both apply',
      run: async ({ send }) => {
        const invalid = [lookup(endpoint, undefined, keyless), lookupOf(endpoint, 'not-a-uuid', keyless)];
        const [missing, malformed] = (await send(...invalid)).map(statusOf);
        const words =
          missing === malformed
            ? `${missing} comes first`
            : `missing ${endpoints[endpoint].parameter}: ${missing}, malformed: ${malformed}`;
        return observed(words, { missing, malformed });
      },
    }),
    observing({
      id: `auth/${endpoint}/scheme-case`,
      clause: 'RFC 9110 11.1',
      title: 'Whether the scheme may be written in another letter case',
      run: async ({ send }, known) => {
        const key = known.callerKeys[0]!;
        const spelled = ['bearer', 'BEARER'].map((scheme) =>
          lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key, scheme } }),
        );
        const [lower, upper] = (await send(...spelled)).map(statusOf);
        return observed(`bearer: ${lower}, BEARER: ${upper}`, { lower, upper });
      },
    }),
  ];
}

/** Revokes a key that others do not need, if there is one, and looks whether it is still let in. */
const judgeRevocation =
  (endpoint: Endpoint): Scenario['run'] =>
  async (context, known) => {
    const key = known.callerKeys[1] ?? known.otherKeys[0] ?? known.callerKeys[0]!;
    const request = lookupOf(endpoint, stranger(known), {
      credential: { as: 'key', key },
      isStateChanged: true,
    });
    const [before] = (await context.send(request)) as [Reply];
    const ready = judged(before, ({ status }) =>
      status === 401 ? unjudged('key-refused', `${key.name} did not work before`) : held,
    );
    if (ready.kind !== 'held') return { finding: ready, request, reply: before };
    const [revoked] = known.revokedKeys;
    const [control] =
      revoked === undefined
        ? []
        : await context.send({ ...request, credential: { as: 'key', key: revoked } });
    if (control?.kind === 'answer' && control.status !== 401)
      return { finding: depends(`auth/${endpoint}/revoked`) };
    const after = await context.withState!('key revoked', { key: key.key }, () =>
      sendUntil(context, request, (answer) => !isLetIn(answer)),
    );
    // The words of a 401 are judged by the other requirements.
    const finding = judged(after, (answer) =>
      isLetIn(answer) ? failed('status', '401', summary(answer)) : held,
    );
    return { finding, request, reply: after };
  };

/** Whether the lookup was carried out, whatever it found. */
const isLetIn = ({ status }: Answer) => status < 400 || status === 404;

export const auth: readonly Requirement[] = [
  ...turnsAway('user-status'),
  ...turnsAway('deposit-check'),
  observingEach({
    id: 'auth/service/www-authenticate',
    clause: 'RFC 9110 15.5.2',
    title: 'Whether a 401 carries WWW-Authenticate',
    requests: (known) =>
      endpointNames.map((endpoint) => [endpoint, lookupOf(endpoint, stranger(known), keyless)]),
    show: (reply) => (reply.kind === 'answer' ? (header(reply, 'www-authenticate') ?? 'none') : reply.words),
  }),
];
