import { endpoints, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import {
  all,
  any,
  hasParameter,
  isKeyInPlace,
  isKeyRead,
  isSpaced,
  mayBeRefused,
  on,
  type ParameterFact,
} from '../rules/facts.ts';
import { invalid, refusedHostile } from '../rules/named-answers.ts';
import { advises, answers, type Requirement } from '../rules/requirement.ts';

const clause = (endpoint: Endpoint) => `GET ${endpoint}, 400; Error body`;

/** Which spelling is advice. */
const NOTATIONS =
  'What has the 32 digits in their order, with other hyphens, white space, braces, parentheses or urn:uuid:, is another notation.';

/** On deposit-check, other variant bits are no matter of notation. */
const notationsOf = (endpoint: Endpoint) =>
  `braces, URN, other hyphens, white space${needsVersion4(endpoint) ? ', other variant bits' : ''}`;

/** Requirements that both endpoints share, each with its own message. */
function refuses(endpoint: Endpoint): readonly Requirement[] {
  const { parameter } = endpoints[endpoint];
  /** 400 is the answer to an accepted key. With a refused one, 400 or 401 may come first. */
  const isInvalid = (fact: ParameterFact) => ({
    when: all(on(endpoint), isKeyRead, hasParameter(fact)),
    also: all(on(endpoint), isKeyInPlace, hasParameter(fact)),
    answer: invalid,
  });
  return [
    answers({
      id: `invalid-uuid/${endpoint}/missing`,
      clause: 'Errors: missing parameter',
      title: `A request without ${parameter} gets 400 with the exact error body`,
      ...isInvalid('missing'),
    }),
    answers({
      id: `invalid-uuid/${endpoint}/empty`,
      clause: clause(endpoint),
      title: `An empty ${parameter} gets 400 with the exact error body`,
      ...isInvalid('empty'),
    }),
    answers({
      id: `invalid-uuid/${endpoint}/malformed`,
      clause: clause(endpoint),
      title: `A ${parameter} that is not a UUID gets 400 with the exact error body`,
      reading: `These texts have other digits than a UUID, or others besides. ${NOTATIONS} A line feed at the end belongs there if other white space gets no 400 either.`,
      ...isInvalid('malformed'),
      also: all(on(endpoint), isKeyInPlace, any(hasParameter('malformed'), mayBeRefused)),
      leaves: { when: isSpaced, to: `invalid-uuid/${endpoint}/alternative-spelling` },
    }),
    advises({
      id: `invalid-uuid/${endpoint}/alternative-spelling`,
      clause: `${clause(endpoint)}; RFC 9562 4`,
      title: `Another notation of a UUID (${notationsOf(endpoint)}) gets 400 with the exact error body`,
      reading: `A UUID has one notation: 8-4-4-4-12 hexadecimal digits, in any letter case. The 17th digit is 8, 9, a or b. ${NOTATIONS}`,
      ...isInvalid('alternative-spelling'),
    }),
    advises({
      id: `invalid-uuid/${endpoint}/hostile`,
      clause: 'Left open: other errors',
      title:
        'Broken percent-encoding, brackets, a semicolon and 8 KiB values get a 4xx, not a 5xx or a dropped connection',
      reading: 'Any 4xx is correct, such as 414 or 431 from a proxy.',
      when: all(on(endpoint), hasParameter('hostile')),
      answer: refusedHostile,
      silenceFails: true,
    }),
  ];
}

export const invalidUuid: readonly Requirement[] = [
  ...refuses('user-status'),
  answers({
    id: 'invalid-uuid/user-status/not-v4',
    clause: 'GET user-status, user_id',
    title: 'A user_id that is a UUID of another version than 4 gets 400 with the exact error body',
    reading:
      'The parameter and the table of errors say "UUID, v4". Only the table of the endpoint says just "valid UUID".',
    when: all(isKeyRead, hasParameter('not-v4')),
    also: all(isKeyInPlace, hasParameter('not-v4')),
    answer: invalid,
  }),
  ...refuses('deposit-check'),
];
