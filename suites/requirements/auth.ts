import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { header } from '../answer.ts';
import { all, hasKey, hasParameter, not, on, type Refusal } from '../rules/facts.ts';
import { findableId, unknownId } from '../inputs/uuids.ts';
import { refused, unauthorized } from '../rules/named-answers.ts';
import { lookup, lookupOf } from '../request.ts';
import {
  answers,
  observes,
  scenario,
  shown,
  statusOf,
  type AnswerRow,
  type Requirement,
} from '../rules/requirement.ts';
import { judgeActiveKeys, revocationBy } from '../scenarios/keys.ts';
import { judgeForm, judgeWaysAround } from '../scenarios/no-way-around.ts';

const revocation = revocationBy((endpoint) => `auth/${endpoint}/revoked`);

const keyless = { credential: { as: 'none' } } as const;

/** Requirements of one endpoint: one for each kind of credential that must be refused. */
function keyRefusals(endpoint: Endpoint): readonly Requirement[] {
  const isJudged = all(on(endpoint), not(hasParameter('hostile')));
  const refusal = (key: Refusal, title: string, more: Partial<Pick<AnswerRow, 'also' | 'provedBy'>> = {}) =>
    answers({
      id: `auth/${endpoint}/${key}`,
      clause: `Authentication: partner keys; GET ${endpoint}, 401`,
      title: `${title} gets 401 with the exact error body`,
      reading: 'If the parameter is missing or malformed too, 400 is also correct.',
      when: all(isJudged, hasKey(key)),
      answer: unauthorized,
      ...more,
    });
  return [
    refusal('missing', 'A request without an Authorization header'),
    refusal(
      'malformed',
      'A malformed Authorization header (no scheme, another scheme, no token, two tokens)',
      { also: all(isJudged, hasKey('open')) },
    ),
    refusal('unknown-key', 'An unknown key, even one close to a real key,'),
    refusal('revoked', 'A revoked key', { provedBy: [`auth/${endpoint}/revocation`] }),
    refusal('expired', 'An expired key', { provedBy: [] }),
    refusal('non-partner', 'A key of a non-Partner account', { provedBy: [] }),
    answers({
      id: `auth/${endpoint}/header-only`,
      clause: 'Authentication: the header',
      title: 'A key in the query, a cookie, another header or the body does not grant access',
      reading: 'Any refusal is correct here. Other requirements check the text of a 401.',
      when: all(isJudged, hasKey('elsewhere')),
      answer: refused,
      refines: [`auth/${endpoint}/missing`],
    }),
  ];
}

/** Requirements of one endpoint that a single lookup does not show. */
function keyScenarios(endpoint: Endpoint): readonly Requirement[] {
  return [
    scenario({
      id: `auth/${endpoint}/active-key`,
      level: 'required',
      endpoint,
      clause: 'Authentication: partner keys',
      title: 'Each active key of a partner is accepted',
      sends: 6,
      provesKeys: true,
      run: judgeActiveKeys(endpoint),
    }),
    scenario({
      id: `auth/${endpoint}/revocation`,
      level: 'required',
      endpoint,
      phase: 'alone',
      clause: 'Authentication: partner keys',
      title: 'A key that is revoked during the run stops working',
      needsChange: 'hook',
      run: async ({ once }, known) => (await once(revocation, known)).get(endpoint)!.revoked,
    }),
    scenario({
      id: `auth/${endpoint}/revocation-spares`,
      level: 'recommended',
      endpoint,
      phase: 'alone',
      clause: 'Left open: keys',
      title: 'While one key is revoked, the other keys of its partner go on working',
      needsChange: 'hook',
      run: async ({ once }, known) => (await once(revocation, known)).get(endpoint)!.spared,
    }),
    scenario({
      id: `auth/${endpoint}/no-way-around`,
      level: 'required',
      endpoint,
      clause: 'Authentication: the header; Service: own IB only',
      title: 'No other form of a request shows data without a valid key, or with the key of another partner',
      reading:
        "Forms: other paths that a server may normalize, other methods, header fields of proxies, an id of the asking partner besides, the partner's name. Any answer without data is right, except 2xx for HEAD without a key where GET gets 401. A page that shows the same for an id that nobody has shows no data.",
      needs: [shown(endpoint)],
      sendsFree: 50,
      run: judgeWaysAround(endpoint),
      judge: judgeForm,
    }),
  ];
}

/** What one endpoint does where the interface leaves a choice. */
function keyObservations(endpoint: Endpoint): readonly Requirement[] {
  return [
    observes({
      endpoint,
      id: `auth/${endpoint}/order`,
      clause: 'Left open: order of errors',
      title: 'Whether 400 or 401 comes first when both apply',
      requests: () => [
        ['missing', lookup(endpoint, undefined, keyless)],
        ['malformed', lookupOf(endpoint, 'not-a-uuid', keyless)],
      ],
      show: statusOf,
      words: ({ missing, malformed }) =>
        missing === malformed
          ? `${missing} comes first`
          : `missing ${endpoints[endpoint].parameter}: ${missing}, malformed: ${malformed}`,
    }),
    observes({
      endpoint,
      id: `auth/${endpoint}/scheme-case`,
      clause: 'RFC 9110 11.1',
      title: 'Whether the scheme Bearer may be written in another letter case',
      requests: (known) =>
        ['bearer', 'BEARER'].map((scheme) => {
          const credential = { as: 'key', key: known.callerKeys[0]!, scheme } as const;
          return [scheme, lookupOf(endpoint, findableId(endpoint, known), { credential })];
        }),
    }),
  ];
}

export const auth: readonly Requirement[] = [
  ...endpointNames.flatMap((endpoint) => [
    ...keyRefusals(endpoint),
    ...keyScenarios(endpoint),
    ...keyObservations(endpoint),
  ]),
  observes({
    endpoint: 'service',
    id: 'auth/service/www-authenticate',
    clause: 'RFC 9110 15.5.2',
    title: 'Whether a 401 has a WWW-Authenticate header',
    requests: (known) =>
      endpointNames.map((endpoint) => [endpoint, lookupOf(endpoint, unknownId(known), keyless)]),
    show: (reply) => (reply.kind === 'answer' ? (header(reply, 'www-authenticate') ?? 'none') : reply.words),
  }),
];
