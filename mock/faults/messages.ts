import { editPayload } from '../change.ts';
import { errors, faultsOf } from './named-errors.ts';
import { errorRows, type Fault, type Faults } from './rows.ts';

/** Messages that are nearly right. */
const misspellings = {
  'with-letter-doubled': {
    how: 'its second letter doubled',
    spell: (message) => message.slice(0, 2) + message.slice(1),
  },
  'in-other-case': {
    how: 'its letters in the other case',
    spell: (message) => (message === message.toUpperCase() ? message.toLowerCase() : message.toUpperCase()),
  },
  'with-other-end': {
    how: 'a full stop more or less',
    spell: (message) => (message.endsWith('.') ? message.slice(0, -1) : `${message}.`),
  },
  'with-space-behind': {
    how: 'a space behind it',
    spell: (message) => `${message} `,
  },
} as const satisfies Record<string, { how: string; spell: (message: string) => string }>;

const misspelt = errors.flatMap(({ endpoint, status, message }) =>
  Object.entries(misspellings).map(([id, { how, spell }]): readonly [string, Fault] => [
    `${endpoint}-${status}-${id}`,
    {
      what: `The message of ${endpoint} with ${status} has ${how}.`,
      fails: errorRows[endpoint][status] ?? [],
      change: editPayload({ endpoint, status }, () => ({ error: spell(message) })),
    },
  ]),
);

/** The two endpoints' messages differ (Errors, Notes). */
const confused = errors.flatMap(({ endpoint, status }): (readonly [string, Fault])[] => {
  const other = errors.find((one) => one.status === status && one.endpoint !== endpoint);
  if (other === undefined) return [];
  return [
    [
      `${endpoint}-${status}-of-${other.endpoint}`,
      {
        what: `${endpoint} answers ${status} with the message of ${other.endpoint}.`,
        fails: errorRows[endpoint][status] ?? [],
        change: editPayload({ endpoint, status }, () => ({ error: other.message })),
      },
    ],
  ];
});

/** Errors with a wrong message (Errors). */
export const messageFaults: Faults = faultsOf([...misspelt, ...confused]);
