import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { stranger } from './inputs/uuids.ts';
import { depositCheck } from './request.ts';
import {
  observing,
  observingEach,
  recommended,
  required,
  statusOf,
  type Requirement,
} from './requirement.ts';
import { observed } from './verdict.ts';

const clause = (endpoint: Endpoint) => `GET ${endpoint}, 400`;

/** What both endpoints must refuse in the same way, each with its own message. */
function refuses(endpoint: Endpoint): readonly Requirement[] {
  const { parameter } = endpoints[endpoint];
  return [
    required({
      id: `invalid-uuid/${endpoint}/missing`,
      clause: 'Errors, notes: a missing parameter is treated as an invalid one',
      title: `No ${parameter} at all: 400 with its exact body`,
    }),
    required({
      id: `invalid-uuid/${endpoint}/empty`,
      clause: clause(endpoint),
      title: `An empty ${parameter}: 400 with its exact body`,
    }),
    required({
      id: `invalid-uuid/${endpoint}/malformed`,
      clause: clause(endpoint),
      title: `A ${parameter} that is not a UUID in any spelling: 400 with its exact body`,
    }),
    recommended({
      id: `invalid-uuid/${endpoint}/alternative-spelling`,
      clause: `${clause(endpoint)}; RFC 9562 4`,
      title:
        'Braced, as a URN, without hyphens, among white space, of another variant: 400 with its exact body',
      reading: 'A UUID has one spelling, 8-4-4-4-12, in any letter case.',
    }),
    recommended({
      id: `invalid-uuid/${endpoint}/hostile`,
      clause: 'Errors, notes: other statuses are not shown',
      title:
        'Broken percent-encoding, brackets and 8 KiB values are refused with a 4xx, on a connection that holds',
      reading: '414 and 431 from a front end are as good as 400.',
    }),
  ];
}

export const invalidUuid: readonly Requirement[] = [
  ...refuses('user-status'),
  required({
    id: 'invalid-uuid/user-status/not-v4',
    clause: 'Errors: user_id missing or not a valid UUID (v4)',
    title: 'A well-formed UUID of another version: 400 with its exact body',
    reading:
      'The parameter is a UUID of version 4 and the table of errors says so too, where the table of the endpoint says only "valid UUID".',
  }),
  ...refuses('deposit-check'),
  observingEach({
    id: 'invalid-uuid/deposit-check/nil-and-max',
    clause: 'GET deposit-check: string (UUID), no version named',
    title: 'How the nil and the max UUID are answered',
    requests: () => [
      ['nil', depositCheck('00000000-0000-0000-0000-000000000000')],
      ['max', depositCheck('ffffffff-ffff-ffff-ffff-ffffffffffff')],
    ],
    show: statusOf,
  }),
  observing({
    id: 'invalid-uuid/deposit-check/variant',
    clause: 'GET deposit-check: string (UUID), no version named',
    title: 'How an id with other variant bits or of no known version is answered',
    run: async ({ send }, known) => {
      const id = stranger(known);
      const ids = [`${id.slice(0, 19)}0${id.slice(20)}`, `${id.slice(0, 14)}9${id.slice(15)}`];
      const [variant, version] = (await send(...ids.map((one) => depositCheck(one)))).map(statusOf);
      return observed(`other variant: ${variant}, version 9: ${version}`, { variant, version });
    },
  }),
];
