import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { summary } from './answer.ts';
import { errorAnswer } from './expectations.ts';
import { alternative, alternativeExamples } from './inputs/alternative.ts';
import { hostileQueries, type Hostile } from './inputs/hostile.ts';
import { malformed, malformedExamples } from './inputs/malformed.ts';
import { baseUuid, findableId, stranger, unknownUuid } from './inputs/uuids.ts';
import { property } from './property.ts';
import { depositCheck, lookup, lookupOf } from './request.ts';
import type { Requirement } from './requirement.ts';
import { observing } from './scenario.ts';
import { classifyUuid } from './uuid.ts';
import { failed, held, observed } from './verdict.ts';

const clause = (endpoint: Endpoint) => `GET ${endpoint}, 400`;

/** What both endpoints must refuse in the same way, each with its own message. */
function refuses(endpoint: Endpoint): readonly Requirement[] {
  const { parameter } = endpoints[endpoint];
  const otherParameter = endpoints[endpoint === 'user-status' ? 'deposit-check' : 'user-status'].parameter;
  const refused = errorAnswer(endpoint, 400);
  return [
    property<string | undefined>({
      id: `invalid-uuid/${endpoint}/missing`,
      level: 'required',
      clause: 'Errors, notes: a missing parameter is treated as an invalid one',
      title: `No ${parameter} at all: 400 with its exact body`,
      every: (known) => [
        undefined,
        '',
        'other=1',
        `id=${stranger(known)}`,
        `${otherParameter}=${findableId(endpoint, known)}`,
      ],
      ask: (query) => [lookup(endpoint, query)],
      holds: ([answer]) => refused(answer!),
    }),
    property({
      id: `invalid-uuid/${endpoint}/empty`,
      level: 'required',
      clause: clause(endpoint),
      title: `An empty ${parameter}: 400 with its exact body`,
      every: () => [`${parameter}=`, `${parameter}=&other=1`, parameter],
      ask: (query) => [lookup(endpoint, query)],
      holds: ([answer]) => refused(answer!),
    }),
    property({
      id: `invalid-uuid/${endpoint}/malformed`,
      level: 'required',
      clause: clause(endpoint),
      title: `A ${parameter} that is not a UUID in any spelling: 400 with its exact body`,
      every: (known) => malformedExamples(findableId(endpoint, known)),
      given: (known) => malformed(baseUuid(endpoint, known)),
      ask: (value) => [lookupOf(endpoint, value)],
      holds: ([answer]) => refused(answer!),
    }),
    property({
      id: `invalid-uuid/${endpoint}/alternative-spelling`,
      level: 'recommended',
      clause: `${clause(endpoint)}; RFC 9562 4`,
      title:
        'Braced, as a URN, without hyphens, among white space, of another variant: 400 with its exact body',
      reading: 'A UUID has one spelling, 8-4-4-4-12, in any letter case.',
      every: (known) => alternativeExamples(findableId(endpoint, known)),
      share: 0.25,
      given: (known) =>
        alternative(baseUuid(endpoint, known)).filter(
          (text) => classifyUuid(text) === 'alternative-spelling',
        ),
      ask: (value) => [lookupOf(endpoint, value)],
      holds: ([answer]) => refused(answer!),
    }),
    property<Hostile>({
      id: `invalid-uuid/${endpoint}/hostile`,
      level: 'recommended',
      clause: 'Errors, notes: other statuses are not shown',
      title:
        'Broken percent-encoding, brackets and 8 KiB values are refused with a 4xx, on a connection that holds',
      reading: '414 and 431 from a front end are as good as 400.',
      every: (known) => hostileQueries(parameter, findableId(endpoint, known)),
      ask: ({ query }) => [lookup(endpoint, query)],
      holds: ([answer], { mayBeRead }) => {
        const { status } = answer!;
        if (status >= 400 && status < 500) return held;
        if (mayBeRead === true && status < 400) return held;
        return failed('status', 'a status from 400 to 499', summary(answer!));
      },
      onTrouble: ({ words }) => failed('connection', 'an answer with a status from 400 to 499', words),
    }),
  ];
}

export const invalidUuid: readonly Requirement[] = [
  ...refuses('user-status'),
  property({
    id: 'invalid-uuid/user-status/not-v4',
    level: 'required',
    clause: 'Errors: user_id missing or not a valid UUID (v4)',
    title: 'A well-formed UUID of another version: 400 with its exact body',
    reading:
      'The parameter is a UUID of version 4 and the table of errors says so too, where the table of the endpoint says only "valid UUID".',
    every: (known) => [
      ...[...'12356789abcdef0'].map((version) => stranger(known).replace('-4000-', `-${version}000-`)),
      ...[...'13578'].map((version) => {
        const id = findableId('user-status', known);
        return id.slice(0, 14) + version + id.slice(15);
      }),
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ],
    share: 0.5,
    given: (known) =>
      fc
        .tuple(unknownUuid(known), fc.constantFrom(...'1235678'))
        .map(([id, version]) => id.slice(0, 14) + version + id.slice(15)),
    ask: (value) => [lookupOf('user-status', value)],
    holds: ([answer]) => errorAnswer('user-status', 400)(answer!),
  }),
  ...refuses('deposit-check'),
  observing({
    id: 'invalid-uuid/deposit-check/nil-and-max',
    clause: 'GET deposit-check: string (UUID), no version named',
    title: 'How the nil and the max UUID are answered',
    play: async ({ send }) => {
      const ids = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
      const replies = await send(...ids.map((id) => depositCheck(id)));
      const [nil, max] = replies.map((reply) => (reply.kind === 'answer' ? reply.status : reply.words));
      return observed(`nil: ${nil}, max: ${max}`, { nil, max });
    },
  }),
];
