import { answerWith, editPayload, editResponse, fromThird, onlyIf, setFields, setJson } from './edits.ts';
import type { Change } from './edits.ts';
import type { Exchange } from '../exchange.ts';
import { answers, define, failing, firstPartner, memberIds, type Faults } from './define.ts';

const kinds = ['member'] as const;
const member = answers('member', 'A member', { kinds });
const stranger = setJson({ is_under_ib: false, date_joined: null });
const rows = (...names: readonly string[]) => names.map((name) => `valid/user-status/${name}`);

const isLastMember = ({ world, finding }: Exchange) =>
  finding.kind === 'member' &&
  finding.user === [...world.users.base.values()].findLast(({ partner }) => partner === firstPartner(world));

const memberFaults: Faults = {
  ...define(member, memberIds, {
    'denied: gets is_under_ib false, with the join date': setFields({ is_under_ib: false }),
    'with-201: gets 201': answerWith(201),
    'redirected: is redirected to a path with a trailing slash': editResponse(({ headers }) => ({
      status: 308,
      headers: { ...headers, Location: '/api/ib/user-status/' },
    })),
  }),
  ...failing(rows('member'), {
    "last-member-denied: The last member of the first partner's IB, and nobody else, is not found": onlyIf(
      isLastMember,
      stranger,
    )(),
    'member-without-deposits-denied: A member who has no deposit is not found (inner join)': onlyIf(
      ({ world, finding }) =>
        finding.kind === 'member' &&
        ![...world.deposits.base.values()].some(({ user_id }) => user_id === finding.user.user_id),
      stranger,
    )(),
    'member-with-leading-zero-denied: A member whose id begins with 0 is not found (id read as a number)':
      onlyIf(({ finding }) => finding.kind === 'member' && finding.user.user_id.startsWith('0'), stranger)(),
  }),
  ...define(member, [...memberIds, ...rows('shape')], {
    'as-text: gets the text "true" in is_under_ib': setFields({ is_under_ib: 'true' }),
    'as-number: gets 1 in is_under_ib': setFields({ is_under_ib: 1 }),
    'field-in-camel-case: gets isUnderIb instead of is_under_ib': editPayload(({ date_joined }) => ({
      isUnderIb: true,
      date_joined,
    })),
    'wrapped: gets the result in a field `data`': editPayload((data) => ({ data })),
    'in-list: gets the result in a list': editPayload((payload) => [payload]),
  }),
  ...failing(rows('shape'), {
    'date-field-in-camel-case: date_joined is called dateJoined': editPayload(({ date_joined }) => ({
      is_under_ib: true,
      dateJoined: date_joined,
    }))({ kinds }),
    'date-field-left-out: date_joined is left out for members': setJson({ is_under_ib: true })({ kinds }),
  }),
  ...define(member, rows('shape'), {
    'with-third-field: gets a third field': setFields({ tier: 'gold' }),
    "with-partner: gets the partner's id": editPayload((payload, { call }) => ({
      ...payload,
      partner: call?.caller?.partner,
    })),
  }),
  ...failing(rows('repeatable'), {
    'third-lookup-denied: A member is not found from the third identical lookup on': fromThird(stranger)({
      kinds,
    }),
  }),
};

/** Rewrites date_joined of members, which the fixture spells `2024-02-29T23:59:59.999Z`. */
const date = {
  id: 'date',
  what: 'date_joined',
  change: (rewrite: (text: string) => unknown): Change =>
    editPayload((payload) => ({ ...payload, date_joined: rewrite(String(payload['date_joined'])) }))({
      kinds,
    }),
};

const shifted = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();

const dateFaults: Faults = {
  ...define(date, rows('date-joined'), {
    'one-ms-late: is one millisecond late': (text) => shifted(text, 1),
    'one-hour-late: is local time (one hour east) labelled as UTC': (text) => shifted(text, 3_600_000),
    'truncated-to-seconds: has no milliseconds': (text) => text.replace(/\.\d+/, ''),
    'day-and-month-swapped: has day and month swapped where both are possible': (text) =>
      text.replace(/-(\d\d)-(0\d|1[0-2])T/, '-$2-$1T'),
    'leap-day-moved: is 1 March instead of 29 February': (text) => text.replace('-02-29T', '-03-01T'),
    'twelve-hour-clock: has the hours of a twelve-hour clock': (text) =>
      text.replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, '0')}`),
    'week-year: has the next year in the last days of December (week-based year)': (text) =>
      text.replace(/^(\d+)(?=-12-(29|3))/, (year) => `${Number(year) + 1}`),
    'null: is null for a member': () => null,
  }),
  ...failing(rows('date-joined'), {
    'date-of-first-member: Every member has the join date of the first user': editPayload(
      (payload, { world }) => ({
        ...payload,
        date_joined: world.users.base.values().next().value?.date_joined,
      }),
    )({ kinds }),
  }),
  ...define(date, rows('date-joined-format'), {
    'naive: has no time zone': (text) => text.replace('Z', ''),
    'with-local-offset: is the right instant with the offset +05:30': (text) =>
      shifted(text, 19_800_000).replace('Z', '+05:30'),
    'bare: is a date without a time': (text) => text.slice(0, 10),
    'epoch-number: is a number of milliseconds': (text) => Date.parse(text),
    'epoch-text: is a number of seconds as text': (text) => `${Math.trunc(Date.parse(text) / 1000)}`,
    'with-zone-name: ends in " UTC" instead of Z': (text) => text.replace('Z', ' UTC'),
  }),
  ...define(date, rows('date-joined', 'date-joined-format'), {
    'rfc-1123: has the format of a mail header': (text) => new Date(text).toUTCString(),
  }),
  ...define(date, rows('date-joined-rfc3339'), {
    'basic-format: is in the basic format of ISO 8601': (text) => text.replaceAll(/[-:]/g, ''),
    'decimal-comma: has a comma before its fraction': (text) => text.replace('.', ','),
  }),
};

/** Wrong answers about members of the caller's IB (valid/user-status). */
export const validUserFaults: Faults = { ...memberFaults, ...dateFaults };
