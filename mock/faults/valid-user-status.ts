import { answerWith, editPayload, editResponse, fromThird, type Change } from './change.ts';
import type { Exchange } from '../exchange.ts';
import {
  failing,
  failingBy,
  firstPartner,
  memberRows,
  noUserData,
  setFields,
  setJson,
  type Faults,
} from './table.ts';

const members = { kinds: ['member'] } as const;
const stranger = { is_under_ib: false, date_joined: null };
const rows = (...names: readonly string[]) => names.map((name) => `valid/user-status/${name}`);

const isLastMember = ({ world, finding }: Exchange) =>
  finding.kind === 'member' &&
  finding.user === [...world.users.base.values()].findLast(({ partner }) => partner === firstPartner(world));

const memberFaults: Faults = {
  ...failing(memberRows, {
    'member-denied': [
      'Members are said not to be under the IB, with their date.',
      setFields(members, { is_under_ib: false }),
    ],
    'member-with-201': ['Members are answered with 201.', answerWith(members, 201)],
    'member-redirected': [
      'Members are redirected to a path with a trailing slash.',
      editResponse(members, ({ headers }) => ({
        status: 308,
        headers: { ...headers, Location: '/api/ib/user-status/' },
      })),
    ],
  }),
  ...failing(rows('member'), {
    'last-member-denied': [
      "The last member of the first partner's IB, and nobody else, is not found.",
      setJson({ where: isLastMember }, stranger),
    ],
  }),
  ...failing([...memberRows, ...rows('shape')], {
    'member-as-text': ['is_under_ib is the text "true".', setFields(members, { is_under_ib: 'true' })],
    'member-as-number': ['is_under_ib is 1.', setFields(members, { is_under_ib: 1 })],
    'member-field-in-camel-case': [
      'is_under_ib is called isUnderIb.',
      editPayload(members, ({ date_joined }) => ({ isUnderIb: true, date_joined })),
    ],
    'member-wrapped': [
      'A membership result is wrapped in a field `data`.',
      editPayload(members, (data) => ({ data })),
    ],
    'member-in-list': [
      'A membership result is the only item of a list.',
      editPayload(members, (payload) => [payload]),
    ],
  }),
  ...failing(rows('shape'), {
    'date-field-in-camel-case': [
      'date_joined is called dateJoined.',
      editPayload(members, ({ date_joined }) => ({ is_under_ib: true, dateJoined: date_joined })),
    ],
    'date-field-left-out': ['date_joined is left out for members.', setJson(members, { is_under_ib: true })],
    'member-with-third-field': [
      'A membership result has a third field.',
      setFields(members, { tier: 'gold' }),
    ],
  }),
  ...failing([...rows('shape'), noUserData], {
    'member-with-partner': [
      "A membership result names the user's partner.",
      editPayload(members, (payload, { call }) => ({ ...payload, partner: call?.caller?.partner })),
    ],
  }),
  ...failing(rows('repeatable'), {
    'third-lookup-denied': [
      'A member is not found from the third lookup of the same spelling with the same key on.',
      (behaviour) => setJson({ ...members, where: fromThird() }, stranger)(behaviour),
    ],
  }),
};

type Rewrite = (date: string) => unknown;

/** Rewrites date_joined of members, given in the fixture's spelling `2024-02-29T23:59:59.999Z`. */
const dates = (rewrite: Rewrite): Change =>
  editPayload(members, (payload) => ({ ...payload, date_joined: rewrite(String(payload['date_joined'])) }));

const shifted = (date: string, ms: number) => new Date(Date.parse(date) + ms).toISOString();

const dateFaults: Faults = {
  ...failingBy(rows('date-joined'), dates, {
    'date-one-ms-late': ['date_joined is one millisecond late.', (date) => shifted(date, 1)],
    'date-one-hour-late': [
      'date_joined is local time (one hour east) labelled as UTC.',
      (date) => shifted(date, 3_600_000),
    ],
    'date-truncated-to-seconds': [
      'date_joined has lost its milliseconds.',
      (date) => date.replace(/\.\d+/, ''),
    ],
    'date-day-and-month-swapped': [
      'Day and month of date_joined are swapped where both are possible.',
      (date) => date.replace(/-(\d\d)-(0\d|1[0-2])T/, '-$2-$1T'),
    ],
    'date-leap-day-moved': [
      'The 29th of February becomes the 1st of March.',
      (date) => date.replace('-02-29T', '-03-01T'),
    ],
    'date-twelve-hour-clock': [
      'Hours of date_joined are those of a twelve-hour clock.',
      (date) =>
        date.replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, '0')}`),
    ],
    'date-week-year': [
      'The last days of December carry the next year (week-based year).',
      (date) => date.replace(/^(\d+)(?=-12-(29|3))/, (year) => `${Number(year) + 1}`),
    ],
    'date-null': ['date_joined of a member is null.', () => null],
  }),
  ...failing(rows('date-joined'), {
    'date-of-first-member': [
      'Every member has joined when the first user of the fixture did.',
      editPayload(members, (payload, { world }) => ({
        ...payload,
        date_joined: world.users.base.values().next().value?.date_joined,
      })),
    ],
  }),
  ...failingBy(rows('date-joined-format'), dates, {
    'date-naive': ['date_joined names no time zone.', (date) => date.replace('Z', '')],
    'date-with-local-offset': [
      'date_joined is the right instant with the offset +05:30.',
      (date) => shifted(date, 19_800_000).replace('Z', '+05:30'),
    ],
    'date-bare': ['date_joined is a date without a time.', (date) => date.slice(0, 10)],
    'date-epoch-number': ['date_joined is a number of milliseconds.', (date) => Date.parse(date)],
    'date-epoch-text': [
      'date_joined is a number of seconds as text.',
      (date) => `${Math.trunc(Date.parse(date) / 1000)}`,
    ],
    'date-with-zone-name': ['date_joined ends in " UTC" in place of Z.', (date) => date.replace('Z', ' UTC')],
  }),
  ...failingBy(rows('date-joined', 'date-joined-format'), dates, {
    'date-rfc-1123': [
      'date_joined is spelled as in a mail header, which has no milliseconds.',
      (date) => new Date(date).toUTCString(),
    ],
  }),
  ...failingBy(rows('date-joined-rfc3339'), dates, {
    'date-basic-format': [
      'date_joined is in the basic format of ISO 8601, without hyphens and colons.',
      (date) => date.replaceAll(/[-:]/g, ''),
    ],
    'date-decimal-comma': ['date_joined has a comma before its fraction.', (date) => date.replace('.', ',')],
  }),
};

/** Wrong answers about members of the caller's IB (valid/user-status). */
export const validUserFaults: Faults = { ...memberFaults, ...dateFaults };
