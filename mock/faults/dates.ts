import { editPayload, type Change } from '../change.ts';
import { rowsOf, user, type Faults } from './rows.ts';

/** Rewrites date_joined of members, given in the fixture's spelling `2024-02-29T23:59:59.999Z`. */
function dates(rewrite: (date: string) => unknown): Change {
  return editPayload({ kinds: ['member'] }, (payload) => ({
    ...payload,
    date_joined: rewrite(String(payload['date_joined'])),
  }));
}

const shifted = (date: string, ms: number) => new Date(Date.parse(date) + ms).toISOString();
const rows = (...names: readonly string[]) => rowsOf('valid', user, ...names);

/** date_joined is another instant, in the right format. */
const wrongInstants: Faults = {
  'date-one-ms-late': {
    what: 'date_joined is one millisecond late.',
    fails: rows('date-joined'),
    change: dates((date) => shifted(date, 1)),
  },
  'date-one-hour-late': {
    what: 'date_joined is local time (one hour east) labelled as UTC.',
    fails: rows('date-joined'),
    change: dates((date) => shifted(date, 3_600_000)),
  },
  'date-truncated-to-seconds': {
    what: 'date_joined has lost its milliseconds.',
    fails: rows('date-joined'),
    change: dates((date) => date.replace(/\.\d+/, '')),
  },
  'date-day-and-month-swapped': {
    what: 'Day and month of date_joined are swapped where both are possible.',
    fails: rows('date-joined'),
    change: dates((date) => date.replace(/-(\d\d)-(0\d|1[0-2])T/, '-$2-$1T')),
  },
  'date-leap-day-moved': {
    what: 'The 29th of February becomes the 1st of March.',
    fails: rows('date-joined'),
    change: dates((date) => date.replace('-02-29T', '-03-01T')),
  },
  'date-twelve-hour-clock': {
    what: 'Hours of date_joined are those of a twelve-hour clock.',
    fails: rows('date-joined'),
    change: dates((date) =>
      date.replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, '0')}`),
    ),
  },
  'date-week-year': {
    what: 'The last days of December carry the next year (week-based year).',
    fails: rows('date-joined'),
    change: dates((date) => date.replace(/^(\d+)(?=-12-(29|3))/, (year) => `${Number(year) + 1}`)),
  },
  'date-of-first-member': {
    what: 'Every member has joined when the first user of the fixture did.',
    fails: rows('date-joined'),
    change: editPayload({ kinds: ['member'] }, (payload, { world }) => ({
      ...payload,
      date_joined: world.asFixture.users.values().next().value?.date_joined,
    })),
  },
};

/** date_joined is not an ISO 8601 date and time in UTC. */
const wrongFormats: Faults = {
  'date-naive': {
    what: 'date_joined names no time zone.',
    fails: rows('date-joined-format'),
    change: dates((date) => date.replace('Z', '')),
  },
  'date-with-local-offset': {
    what: 'date_joined is the right instant with the offset +05:30.',
    fails: rows('date-joined-format'),
    change: dates((date) => shifted(date, 19_800_000).replace('Z', '+05:30')),
  },
  'date-rfc-1123': {
    what: 'date_joined is spelled as in a mail header, which has no milliseconds.',
    fails: rows('date-joined', 'date-joined-format'),
    change: dates((date) => new Date(date).toUTCString()),
  },
  'date-bare': {
    what: 'date_joined is a date without a time.',
    fails: rows('date-joined-format'),
    change: dates((date) => date.slice(0, 10)),
  },
  'date-epoch-number': {
    what: 'date_joined is a number of milliseconds.',
    fails: rows('date-joined-format'),
    change: dates((date) => Date.parse(date)),
  },
  'date-epoch-text': {
    what: 'date_joined is a number of seconds as text.',
    fails: rows('date-joined-format'),
    change: dates((date) => `${Math.trunc(Date.parse(date) / 1000)}`),
  },
  'date-with-zone-name': {
    what: 'date_joined ends in " UTC" in place of Z.',
    fails: rows('date-joined-format'),
    change: dates((date) => date.replace('Z', ' UTC')),
  },
  'date-null': {
    what: 'date_joined of a member is null.',
    fails: rows('date-joined'),
    change: dates(() => null),
  },
};

/** ISO 8601, but not in the profile of RFC 3339. */
const unusualFormats: Faults = {
  'date-basic-format': {
    what: 'date_joined is in the basic format of ISO 8601, without hyphens and colons.',
    fails: rows('date-joined-rfc3339'),
    change: dates((date) => date.replaceAll(/[-:]/g, '')),
  },
  'date-decimal-comma': {
    what: 'date_joined has a comma before its fraction.',
    fails: rows('date-joined-rfc3339'),
    change: dates((date) => date.replace('.', ',')),
  },
};

export const dateFaults: Faults = { ...wrongInstants, ...wrongFormats, ...unusualFormats };
