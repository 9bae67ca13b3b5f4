import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, type Change } from '../change.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

/** An id that nobody has. */
const NOBODY = '5eed0000-0000-4000-8000-00000000dead';

const readAs =
  (which: Endpoint, value: string | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    value: (parameters, name) => {
      const read = behaviour.value(parameters, name);
      return name === endpoints[which].parameter && read === value ? NOBODY : read;
    },
  });

const saidMissing = (endpoint: Endpoint) =>
  answerWith({ endpoint, status: 400, where: ({ call }) => call?.value === undefined }, 400, {
    error: `Missing ${endpoints[endpoint].parameter}`,
  });

/** Parameters that are missing or empty (invalid-uuid). */
export const absentFaults: Faults = {
  'missing-user-id-unknown': {
    what: 'A missing user_id is answered as an unknown user, also where it is spelled as an array.',
    fails: rowsOf('invalid-uuid', user, 'missing', 'hostile'),
    change: readAs('user-status', undefined),
  },
  'missing-reference-id-unknown': {
    what: 'A missing reference_id is answered as an unknown deposit.',
    fails: rowsOf('invalid-uuid', deposit, 'missing'),
    change: readAs('deposit-check', undefined),
  },
  'empty-user-id-unknown': {
    what: 'An empty user_id is answered as an unknown user.',
    fails: rowsOf('invalid-uuid', user, 'empty'),
    change: readAs('user-status', ''),
  },
  'empty-reference-id-unknown': {
    what: 'An empty reference_id is answered as an unknown deposit.',
    fails: rowsOf('invalid-uuid', deposit, 'empty'),
    change: readAs('deposit-check', ''),
  },
  'missing-user-id-has-own-message': {
    what: 'A missing user_id has a message of its own.',
    fails: rowsOf('invalid-uuid', user, 'missing'),
    change: saidMissing('user-status'),
  },
  'missing-reference-id-has-own-message': {
    what: 'A missing reference_id has a message of its own.',
    fails: rowsOf('invalid-uuid', deposit, 'missing'),
    change: saidMissing('deposit-check'),
  },
  'empty-is-422': {
    what: 'An empty parameter is answered with 422.',
    fails: rowsOf('invalid-uuid', both, 'empty'),
    change: answerWith({ status: 400, where: ({ call }) => call?.value === '' }, 422),
  },
};
