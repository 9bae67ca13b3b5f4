import * as fc from 'fast-check';
import type { FixtureExecutedDeposit, FixtureUser } from '../schemas/generated/types.ts';
import validateExecutedDepositResult from '../schemas/generated/executed-deposit-result.cjs';
import validateMembershipResult from '../schemas/generated/membership-result.cjs';
import { header, repeatedNames, summary } from './answer.ts';
import { fieldsOf, memberFields, noObject, saysExecuted, saysMember, saysNumber } from './expectations.ts';
import { hasLetters, percentEncoded, stranger, unknownUuid, withLetterCase } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { foreignData, userData } from './privacy.ts';
import { property } from './property.ts';
import { depositCheck, userStatus } from './request.ts';
import { repeatable } from './repeatable.ts';
import type { Requirement, Watch } from './requirement.ts';
import { respelled } from './respelled.ts';
import { readTimestamp, sameInstant } from './timestamp.ts';
import { depends, failed, held, unjudged } from './verdict.ts';

const members = (known: Known) => known.members;
const executed = (known: Known) => known.executed;
const lacksMembers = ({ members: users }: Known) =>
  users.length === 0 ? 'user of the IB under test' : undefined;
const lacksExecuted = ({ executed: deposits }: Known) =>
  deposits.length === 0 ? 'EXECUTED deposit of a user under the IB' : undefined;

const ofMember = {
  lacks: lacksMembers,
  every: members,
  ask: ({ user_id }: FixtureUser) => [userStatus(user_id)],
};
const ofExecuted = {
  lacks: lacksExecuted,
  every: executed,
  ask: ({ reference_id }: FixtureExecutedDeposit) => [depositCheck(reference_id)],
};

const memberIds = (known: Known) => known.members.map(({ user_id }) => user_id);
const executedIds = (known: Known) => known.executed.map(({ reference_id }) => reference_id);
const lettered = (ids: (known: Known) => readonly string[]) => (known: Known) =>
  ids(known).filter(hasLetters);
const lacksLetters = (ids: (known: Known) => readonly string[], what: string) => (known: Known) =>
  ids(known).some(hasLetters) ? undefined : `${what} with a letter in its id`;

export const valid: readonly Requirement[] = [
  property({
    id: 'valid/user-status/member',
    level: 'required',
    clause: 'GET user-status, 200',
    title: "A user of the caller's IB: 200, is_under_ib is the boolean true",
    ...ofMember,
    provesKey: true,
    holds: ([answer]) => saysMember(answer!),
  }),
  property({
    id: 'valid/user-status/date-joined',
    level: 'required',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is the instant at which the user joined',
    reading: 'Compared as instants, to the precision in which the fixture states them.',
    ...ofMember,
    holds: ([answer], { date_joined }) => {
      const fields = memberFields(answer!);
      if (fields === undefined) return depends('valid/user-status/member');
      const actual = fields['date_joined'];
      if (actual === undefined) return depends('valid/user-status/shape');
      const wrong = failed(
        'value',
        `"date_joined": "${date_joined}"`,
        `"date_joined": ${JSON.stringify(actual)}`,
      );
      if (actual === null) return wrong;
      const reading = typeof actual === 'string' ? readTimestamp(actual) : undefined;
      if (reading?.instant === undefined) return depends('valid/user-status/date-joined-format');
      const stated = readTimestamp(date_joined).instant!;
      return sameInstant(stated, reading.instant) ? held : wrong;
    },
  }),
  property({
    id: 'valid/user-status/date-joined-format',
    level: 'required',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is an ISO 8601 date and time in UTC',
    reading:
      'Z or a zero offset, any number of fraction digits; a naive time, another offset or a bare date is none.',
    ...ofMember,
    holds: ([answer]) => {
      const actual = memberFields(answer!)?.['date_joined'];
      if (actual === undefined || actual === null)
        return depends('valid/user-status/member, valid/user-status/shape and valid/user-status/date-joined');
      const expected = 'an ISO 8601 UTC time, such as "2024-02-29T23:59:59.999Z"';
      const shown = `"date_joined": ${JSON.stringify(actual)}`;
      if (typeof actual !== 'string') return failed('value', expected, `${shown} (not a string)`);
      const reading = readTimestamp(actual);
      return reading.kind === 'utc' ? held : failed('value', expected, `${shown} (${reading.why})`);
    },
  }),
  property({
    id: 'valid/user-status/date-joined-rfc3339',
    level: 'recommended',
    clause: 'RFC 3339 5.6',
    title: 'date_joined keeps to the RFC 3339 profile',
    ...ofMember,
    holds: ([answer]) => {
      const actual = memberFields(answer!)?.['date_joined'];
      const reading = typeof actual === 'string' ? readTimestamp(actual) : undefined;
      if (reading?.kind !== 'utc') return depends('valid/user-status/date-joined-format');
      return reading.rfc3339
        ? held
        : failed(
            'value',
            'RFC 3339: extended format, with T and seconds',
            `"date_joined": ${JSON.stringify(actual)}`,
          );
    },
  }),
  property({
    id: 'valid/user-status/shape',
    level: 'required',
    clause: 'IB membership result',
    title: 'Exactly the two fields is_under_ib and date_joined, of their types',
    ...ofMember,
    holds: ([answer]) => {
      if (answer!.status !== 200) return depends('valid/user-status/member');
      const expected = '200 with exactly {"is_under_ib": boolean, "date_joined": string or null}';
      // A date of another type than a string is spoken of by the format alone.
      const body = fieldsOf(answer!);
      const isShaped =
        body !== undefined &&
        repeatedNames(answer!.text).length === 0 &&
        validateMembershipResult({
          ...body,
          ...(Object.hasOwn(body, 'date_joined') && { date_joined: null }),
        });
      return isShaped ? held : failed('shape', expected, summary(answer!));
    },
  }),
  property({
    id: 'valid/user-status/uuid-case',
    level: 'required',
    clause: 'GET user-status, "valid UUID"; RFC 9562 4',
    title: 'Upper and mixed case spell the same user',
    lacks: lacksLetters(memberIds, 'user of the IB'),
    ...respelled('user-status', lettered(memberIds), saysMember, withLetterCase),
  }),
  property({
    id: 'valid/user-status/percent-encoding',
    level: 'recommended',
    clause: 'RFC 3986 6.2.2.2',
    title: 'Percent-encoded unreserved characters spell the same user',
    lacks: lacksMembers,
    ...respelled('user-status', memberIds, saysMember, percentEncoded),
  }),
  property({
    id: 'valid/user-status/repeatable',
    level: 'required',
    clause: 'What the service does: read-only lookup',
    title: 'The same lookup gives the same answer, in any order',
    lacks: lacksMembers,
    ...repeatable('user-status', memberIds),
  }),
  property({
    id: 'valid/deposit-check/executed',
    level: 'required',
    clause: 'GET deposit-check, 200',
    title: "An EXECUTED deposit of a user under the caller's IB: 200, status is exactly EXECUTED",
    ...ofExecuted,
    provesKey: true,
    holds: ([answer]) => saysExecuted(answer!),
  }),
  property({
    id: 'valid/deposit-check/amount',
    level: 'required',
    clause: 'Executed deposit result, amountInUsd',
    title: 'amountInUsd is a JSON number, equal to the amount as an IEEE double',
    ...ofExecuted,
    holds: ([answer], { amountInUsd }) => saysNumber('amountInUsd', amountInUsd)(answer!),
  }),
  property({
    id: 'valid/deposit-check/executed-at',
    level: 'required',
    clause: 'Executed deposit result, executedAt',
    title: 'executedAt is a JSON number: the execution time in Unix milliseconds',
    ...ofExecuted,
    holds: ([answer], { executedAt }) => saysNumber('executedAt', executedAt)(answer!),
  }),
  property({
    id: 'valid/deposit-check/shape',
    level: 'required',
    clause: 'Executed deposit result',
    title: 'The three fields are present, and nothing carries other user data',
    reading:
      'A field of a wrong type is spoken of by that field; a harmless fourth field by valid/deposit-check/closed.',
    ...ofExecuted,
    holds: ([answer], _, known) => {
      if (answer!.status !== 200) return depends('valid/deposit-check/executed');
      const fields = fieldsOf(answer!);
      const expected = '200 with "status", "amountInUsd" and "executedAt"';
      if (fields === undefined) return failed('JSON', expected, noObject(answer!));
      const twice = repeatedNames(answer!.text);
      if (twice.length > 0)
        return failed('shape', expected, `${summary(answer!)} (twice: ${twice.join(', ')})`);
      const missing = ['status', 'amountInUsd', 'executedAt'].filter((name) => !Object.hasOwn(fields, name));
      if (missing.length > 0)
        return failed('shape', expected, `${summary(answer!)} (no ${missing.join(', ')})`);
      const leak = userData(fields, known);
      return leak === undefined
        ? held
        : failed('shape', `${expected}, and no user data`, `${summary(answer!)} (${leak})`);
    },
  }),
  property({
    id: 'valid/deposit-check/closed',
    level: 'recommended',
    clause: 'Executed deposit result',
    title: 'No fourth field',
    ...ofExecuted,
    holds: ([answer]) => {
      const fields = saysExecuted(answer!).kind === 'held' ? fieldsOf(answer!) : undefined;
      if (fields === undefined) return depends('valid/deposit-check/executed');
      // A field by another name is one that is missing.
      if (!Object.hasOwn(fields, 'amountInUsd') || !Object.hasOwn(fields, 'executedAt'))
        return depends('valid/deposit-check/shape');
      validateExecutedDepositResult(fields);
      const extra = (validateExecutedDepositResult.errors ?? []).some(
        ({ keyword }) => keyword === 'additionalProperties',
      );
      return extra
        ? failed('shape', 'exactly the fields status, amountInUsd and executedAt', summary(answer!))
        : held;
    },
  }),
  property({
    id: 'valid/deposit-check/uuid-case',
    level: 'required',
    clause: 'GET deposit-check, "valid UUID"; RFC 9562 4',
    title: 'Upper and mixed case spell the same deposit',
    lacks: lacksLetters(executedIds, 'EXECUTED deposit under the IB'),
    ...respelled('deposit-check', lettered(executedIds), saysExecuted, withLetterCase),
  }),
  property({
    id: 'valid/deposit-check/any-uuid-version',
    level: 'required',
    clause: 'GET deposit-check: string (UUID), no version named',
    title: 'A reference_id of any UUID version is well formed: never 400',
    every: (known) => [
      ...known.executed.map(({ reference_id }) => reference_id),
      ...[...'12345678'].map((version) => stranger(known).replace('-4000-', `-${version}000-`)),
    ],
    given: (known) =>
      fc
        .tuple(unknownUuid(known), fc.constantFrom(...'12345678'), fc.constantFrom(...'89ab'))
        .map(
          ([id, version, variant]) =>
            `${id.slice(0, 14)}${version}${id.slice(15, 19)}${variant}${id.slice(20)}`,
        ),
    ask: (id) => [depositCheck(id)],
    holds: ([answer]) => {
      const { status } = answer!;
      if (status === 400) return failed('status', 'not 400: the id is a UUID', summary(answer!));
      return status === 200 || status === 404
        ? held
        : depends('valid/deposit-check/executed and foreign-ib/deposit-check/unknown');
    },
  }),
  property({
    id: 'valid/deposit-check/percent-encoding',
    level: 'recommended',
    clause: 'RFC 3986 6.2.2.2',
    title: 'Percent-encoded unreserved characters spell the same deposit',
    lacks: lacksExecuted,
    ...respelled('deposit-check', executedIds, saysExecuted, percentEncoded),
  }),
  property({
    id: 'valid/deposit-check/repeatable',
    level: 'required',
    clause: 'What the service does: read-only lookup',
    title: 'The same lookup gives the same answer, in any order',
    lacks: lacksExecuted,
    ...repeatable('deposit-check', executedIds),
  }),
  {
    kind: 'watch',
    id: 'valid/service/json-content-type',
    level: 'recommended',
    clause: 'What the service does: both return JSON; RFC 8259 11',
    title: 'Every answer with a JSON body is labelled application/json or +json',
    reading:
      'Answers to odd requests that a front end may give are not counted: only GET requests that the interface speaks of.',
    unseen: unjudged('not-seen', 'no answer arrived'),
    sees: ({ request, answer }) => {
      if (request.method !== 'GET' || !answer.json.ok) return undefined;
      const label = header(answer, 'content-type');
      const isJson = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(label ?? '');
      return isJson
        ? held
        : failed('media type', 'Content-Type: application/json', `Content-Type: ${label ?? '(none)'}`);
    },
  } satisfies Watch,
  {
    kind: 'watch',
    id: 'valid/service/no-user-data',
    level: 'required',
    clause: 'What the service does: returns no user data beyond membership and join date',
    title: 'No answer holds a user id, key or partner id that its request did not name',
    unseen: unjudged('not-seen', 'no answer arrived'),
    sees: ({ request, answer }, known) => {
      const leak = foreignData(request, answer, known);
      return leak === undefined ? held : failed('value', 'nothing of other users, keys and partners', leak);
    },
  } satisfies Watch,
];
