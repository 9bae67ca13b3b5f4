import { endpointNames, endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { header, summary, type Answer, type Reply } from './answer.ts';
import { findableId, unknownId } from './inputs/uuids.ts';
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
import { blockedBy, failed, pass, judgeReply, observed, inconclusive } from './verdict.ts';

const keyless = { credential: { as: 'none' } } as const;

/** Requirements of one endpoint: one for each kind of credential that must be refused. */
function keyRefusals(endpoint: Endpoint): readonly Requirement[] {
  const refusal = (name: string, title: string, needs?: Rule['needs'], provedBy?: Rule['provedBy']) =>
    required({
      id: `auth/${endpoint}/${name}`,
      clause: 'Authentication; Errors, 401',
      title: `${title} gets 401 with the exact error body`,
      reading: 'If the parameter is missing or malformed too, 400 is also correct.',
      ...(needs && { needs }),
      ...(provedBy && { provedBy }),
    });
  return [
    refusal('missing', 'A request without an Authorization header'),
    refusal(
      'malformed',
      'A malformed Authorization header (no scheme, another scheme, no token, two tokens)',
    ),
    refusal('unknown-key', 'An unknown key, even one close to a real key,'),
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
      title: 'A key in the query, a cookie, another header or the body does not grant access',
      reading: 'Any refusal is correct here. Other requirements check the text of a 401.',
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
      title: 'Whether 400 or 401 comes first when both apply',
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
      title: 'Whether the scheme Bearer may be written in another letter case',
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

/** Revokes a key and checks that it is refused. Prefers a key that no other requirement needs. */
const judgeRevocation =
  (endpoint: Endpoint): Scenario['run'] =>
  async (context, known) => {
    const key = known.callerKeys[1] ?? known.otherKeys[0] ?? known.callerKeys[0]!;
    const request = lookupOf(endpoint, unknownId(known), {
      credential: { as: 'key', key },
      isStateChanged: true,
    });
    const [before] = (await context.send(request)) as [Reply];
    const ready = judgeReply(before, ({ status }) =>
      status === 401
        ? inconclusive('key-refused', `not checked because ${key.name} got 401 before it was revoked`)
        : pass,
    );
    if (ready.kind !== 'passed') return { finding: ready, request, reply: before };
    const [revoked] = known.revokedKeys;
    const [control] =
      revoked === undefined
        ? []
        : await context.send({ ...request, credential: { as: 'key', key: revoked } });
    if (control?.kind === 'answer' && control.status !== 401)
      return { finding: blockedBy(`auth/${endpoint}/revoked`) };
    const after = await context.withState!('key revoked', { key: key.key }, () =>
      sendUntil(context, request, (answer) => !isAccepted(answer)),
    );
    // Other requirements check the text of a 401.
    const finding = judgeReply(after, (answer) =>
      isAccepted(answer) ? failed('status', '401', summary(answer)) : pass,
    );
    return { finding, request, reply: after };
  };

/** Whether the server accepted the key and did the lookup. */
const isAccepted = ({ status }: Answer) => status < 400 || status === 404;

export const auth: readonly Requirement[] = [
  ...keyRefusals('user-status'),
  ...keyRefusals('deposit-check'),
  observingEach({
    id: 'auth/service/www-authenticate',
    clause: 'RFC 9110 15.5.2',
    title: 'Whether a 401 has a WWW-Authenticate header',
    requests: (known) =>
      endpointNames.map((endpoint) => [endpoint, lookupOf(endpoint, unknownId(known), keyless)]),
    show: (reply) => (reply.kind === 'answer' ? (header(reply, 'www-authenticate') ?? 'none') : reply.words),
  }),
];
