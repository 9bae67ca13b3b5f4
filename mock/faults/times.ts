import { editPayload, type Change } from '../change.ts';
import { becomesExecuted, deposit, rowsOf, type Faults } from './rows.ts';

const wrong = [...rowsOf('valid', deposit, 'executed-at'), ...becomesExecuted];

const times = (rewrite: (time: number) => unknown): Change =>
  editPayload({ kinds: ['executed'] }, (payload) => ({
    ...payload,
    executedAt: rewrite(Number(payload['executedAt'])),
  }));

/** Wrong values of executedAt (executed deposit result). */
export const timeFaults: Faults = {
  'time-in-seconds': {
    what: 'executedAt is in seconds.',
    fails: wrong,
    change: times((time) => Math.trunc(time / 1000)),
  },
  'time-in-microseconds': {
    what: 'executedAt is in microseconds.',
    fails: wrong,
    change: times((time) => time * 1000),
  },
  'time-rounded-to-seconds': {
    what: 'executedAt has lost its milliseconds.',
    fails: wrong,
    change: times((time) => time - (time % 1000)),
  },
  'time-one-ms-late': {
    what: 'executedAt is one millisecond late.',
    fails: wrong,
    change: times((time) => time + 1),
  },
  'time-one-hour-late': {
    what: 'executedAt is local time (one hour east) taken for UTC.',
    fails: wrong,
    change: times((time) => time + 3_600_000),
  },
  'time-of-32-bits': {
    what: 'executedAt has overflowed a 32-bit integer.',
    fails: wrong,
    change: times((time) => time | 0),
  },
  'time-as-iso-text': {
    what: 'executedAt is an ISO 8601 text.',
    fails: wrong,
    change: times((time) => new Date(time).toISOString()),
  },
  'time-as-digits': {
    what: 'executedAt is a number as text.',
    fails: wrong,
    change: times(String),
  },
};
