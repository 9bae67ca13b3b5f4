import { editPayload, type Change } from '../change.ts';
import { deposit, rowsOf, type Faults } from './rows.ts';

const rows = (...names: readonly string[]) => rowsOf('valid', deposit, ...names);

const times = (rewrite: (time: number) => unknown): Change =>
  editPayload({ kinds: ['executed'] }, (payload) => ({
    ...payload,
    executedAt: rewrite(Number(payload['executedAt'])),
  }));

/** Wrong values of executedAt (executed deposit result). */
export const timeFaults: Faults = {
  'time-in-seconds': {
    what: 'executedAt is in seconds.',
    fails: rows('executed-at'),
    change: times((time) => Math.trunc(time / 1000)),
  },
  'time-in-microseconds': {
    what: 'executedAt is in microseconds.',
    fails: rows('executed-at'),
    change: times((time) => time * 1000),
  },
  'time-rounded-to-seconds': {
    what: 'executedAt has lost its milliseconds.',
    fails: rows('executed-at'),
    change: times((time) => time - (time % 1000)),
  },
  'time-one-ms-late': {
    what: 'executedAt is one millisecond late.',
    fails: rows('executed-at'),
    change: times((time) => time + 1),
  },
  'time-one-hour-late': {
    what: 'executedAt is local time (one hour east) taken for UTC.',
    fails: rows('executed-at'),
    change: times((time) => time + 3_600_000),
  },
  'time-of-32-bits': {
    what: 'executedAt has overflowed a 32-bit integer.',
    fails: rows('executed-at'),
    change: times((time) => time | 0),
  },
  'time-as-iso-text': {
    what: 'executedAt is an ISO 8601 text.',
    fails: rows('executed-at'),
    change: times((time) => new Date(time).toISOString()),
  },
  'time-as-digits': {
    what: 'executedAt is a number as text.',
    fails: rows('executed-at'),
    change: times(String),
  },
};
