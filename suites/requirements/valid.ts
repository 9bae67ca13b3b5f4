import { header, repeatedNames, summary, writtenField } from '../answer.ts';
import {
  all,
  any,
  inAnyNotation,
  isBecoming,
  isCased,
  isOnlyEncoded,
  isOtherVersion,
  isOurKey,
  isPlain,
  isReadable,
  hasKey,
  on,
  sees,
} from '../rules/facts.ts';
import {
  isExecuted,
  isMember,
  expectNumber,
  fieldsOf,
  hasExactly,
  nonObject,
} from '../rules/expectations.ts';
import { executed, member } from '../rules/named-answers.ts';
import { userData, watchPrivacy } from '../rules/privacy.ts';
import {
  advises,
  answers,
  monitor,
  recommends,
  refines,
  repeats,
  requires,
  type Monitor,
  type Property,
  type Requirement,
} from '../rules/requirement.ts';
import { readTimestamp, sameInstant, type TimestampReading } from '../rules/timestamp.ts';
import { failed, pass, inconclusive, type Verdict } from '../rules/verdict.ts';

type Holds = Property['holds'];

/** Lookups that find a member, or an EXECUTED deposit, of the partner of the key. */
const findsMember = all(isPlain, sees('own user'));
const findsDeposit = all(isPlain, sees('EXECUTED'));

/** The same, also in another notation of the id. */
const showsDeposit = all(isReadable, sees('EXECUTED'));

/** Judges `date_joined` in an answer about a member, with its reading if it is a string. */
const ofDate =
  (
    judge: (
      value: unknown,
      reading: TimestampReading | undefined,
      as: { readonly stated: string; readonly written: () => string },
    ) => Verdict | undefined,
  ): Holds =>
  (answer, { user }) => {
    const value = fieldsOf(answer)?.['date_joined'];
    // Other requirements judge other errors.
    if (value === undefined || !isMember(answer)) return undefined;
    const reading = typeof value === 'string' ? readTimestamp(value) : undefined;
    return judge(value, reading, {
      stated: user!.date_joined,
      written: () => writtenField(answer, 'date_joined'),
    });
  };

const depositFields = ['status', 'amountInUsd', 'executedAt'];

export const valid: readonly Requirement[] = [
  answers({
    id: 'valid/user-status/member',
    clause: 'GET user-status, 200',
    title: "A user of the caller's IB gets 200 with the boolean true in is_under_ib",
    ...inAnyNotation(sees('own user'), isOurKey),
    answer: member,
    provesKey: true,
  }),
  requires({
    id: 'valid/user-status/date-joined',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is the time at which the user joined',
    reading: 'Times are compared as instants, to the precision of the fixture.',
    when: findsMember,
    holds: ofDate((actual, reading, { stated, written }) => {
      const wrong = failed('value', `"date_joined": "${stated}"`, written());
      if (actual === null) return wrong;
      if (reading?.instant === undefined) return undefined;
      return sameInstant(readTimestamp(stated).instant!, reading.instant) ? pass : wrong;
    }),
  }),
  requires({
    id: 'valid/user-status/date-joined-format',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is an ISO 8601 date and time in UTC',
    reading:
      'Z or a zero offset and any number of fraction digits are correct. A time without a zone, another offset or a bare date is wrong.',
    when: findsMember,
    holds: ofDate((actual, reading, { written }) => {
      if (actual === null) return undefined;
      if (reading?.kind === 'utc') return pass;
      const expected = 'an ISO 8601 UTC time, such as "2024-02-29T23:59:59.999Z"';
      return failed('value', expected, `${written()} (${reading?.why ?? 'not a string'})`);
    }),
  }),
  recommends({
    id: 'valid/user-status/date-joined-rfc3339',
    clause: 'RFC 3339 5.6',
    title: 'date_joined follows the RFC 3339 profile',
    when: findsMember,
    holds: ofDate((_, reading, { written }) => {
      if (reading?.kind !== 'utc') return undefined;
      return reading.rfc3339
        ? pass
        : failed('value', 'RFC 3339: extended format, with T and seconds', written());
    }),
  }),
  requires({
    id: 'valid/user-status/shape',
    clause: 'IB membership result',
    title: 'The answer has exactly the fields is_under_ib and date_joined, with the right types',
    when: findsMember,
    holds: (answer) => {
      if (answer.status !== 200) return undefined;
      const isShaped =
        hasExactly(answer, 'is_under_ib', 'date_joined') &&
        typeof fieldsOf(answer)?.['is_under_ib'] === 'boolean';
      const expected = '200 with exactly {"is_under_ib": boolean, "date_joined": string or null}';
      return isShaped ? pass : failed('shape', expected, summary(answer));
    },
  }),
  refines({
    id: 'valid/user-status/uuid-case',
    clause: 'GET user-status, user_id; RFC 9562 4',
    title: 'The letter case of user_id does not change the answer',
    when: all(findsMember, isCased),
    also: all(on('user-status'), isPlain, isCased),
  }),
  advises({
    id: 'valid/user-status/percent-encoding',
    clause: 'RFC 3986 6.2.2.2',
    title: 'Percent-encoding unreserved characters of user_id, or of its name, does not change the answer',
    when: all(findsMember, hasKey('accepted'), isOnlyEncoded),
    answer: member,
    refines: true,
  }),
  repeats({
    id: 'valid/user-status/repeatable',
    clause: 'Service: read-only',
    title: 'The same lookup always gets the same answer, in any order',
    when: on('user-status'),
  }),
  answers({
    id: 'valid/deposit-check/executed',
    clause: 'GET deposit-check, 200',
    title: "An EXECUTED deposit of a user under the caller's IB gets 200 with the status EXECUTED",
    when: all(findsDeposit, isOurKey),
    also: all(isReadable, any(sees('EXECUTED'), isBecoming), isOurKey),
    answer: executed,
    provesKey: true,
  }),
  requires({
    id: 'valid/deposit-check/amount',
    clause: 'Executed deposit result, amountInUsd',
    title: "amountInUsd is a JSON number that equals the deposit's amount as an IEEE double",
    when: showsDeposit,
    holds: (answer, { deposit }) => expectNumber('amountInUsd', deposit!.amountInUsd)(answer),
  }),
  requires({
    id: 'valid/deposit-check/executed-at',
    clause: 'Executed deposit result, executedAt',
    title: 'executedAt is a JSON number, the execution time in Unix milliseconds',
    when: showsDeposit,
    holds: (answer, { deposit }) => expectNumber('executedAt', deposit!.executedAt)(answer),
  }),
  requires({
    id: 'valid/deposit-check/shape',
    clause: 'Executed deposit result',
    title: 'The answer has the three fields and no other user data',
    reading:
      'Other requirements check the type of each field. valid/deposit-check/closed checks for a harmless fourth field.',
    when: showsDeposit,
    holds: (answer, _, known) => {
      if (answer.status !== 200) return undefined;
      const fields = fieldsOf(answer);
      const expected = '200 with "status", "amountInUsd" and "executedAt"';
      if (fields === undefined) return failed('JSON', expected, nonObject(answer));
      const twice = repeatedNames(answer.text);
      if (twice.length > 0)
        return failed('shape', expected, `${summary(answer)} (twice: ${twice.join(', ')})`);
      const missing = depositFields.filter((name) => !Object.hasOwn(fields, name));
      if (missing.length > 0)
        return failed('shape', expected, `${summary(answer)} (no ${missing.join(', ')})`);
      const leak = userData(fields, known);
      return leak === undefined
        ? pass
        : failed('shape', `${expected}, and no user data`, `${summary(answer)} (${leak})`);
    },
  }),
  recommends({
    id: 'valid/deposit-check/closed',
    clause: 'Executed deposit result',
    title: 'The answer has no fourth field',
    when: showsDeposit,
    holds: (answer) => {
      const names = Object.keys(fieldsOf(answer) ?? {});
      // A renamed field counts as missing, not as a fourth field.
      if (!isExecuted(answer) || !depositFields.every((name) => names.includes(name))) return undefined;
      return names.length > depositFields.length
        ? failed('shape', 'exactly the fields status, amountInUsd and executedAt', summary(answer))
        : pass;
    },
  }),
  refines({
    id: 'valid/deposit-check/uuid-case',
    clause: 'GET deposit-check, reference_id; RFC 9562 4',
    title: 'The letter case of reference_id does not change the answer',
    when: all(findsDeposit, isCased),
    also: all(on('deposit-check'), isPlain, isCased),
    refines: ['valid/deposit-check/any-uuid-version'],
  }),
  refines({
    id: 'valid/deposit-check/any-uuid-version',
    clause: 'Deposit reference',
    title: 'A reference_id of any UUID version is valid and never gets 400',
    when: all(isPlain, isOtherVersion),
  }),
  advises({
    id: 'valid/deposit-check/percent-encoding',
    clause: 'RFC 3986 6.2.2.2',
    title:
      'Percent-encoding unreserved characters of reference_id, or of its name, does not change the answer',
    when: all(findsDeposit, hasKey('accepted'), isOnlyEncoded),
    answer: executed,
    refines: true,
  }),
  repeats({
    id: 'valid/deposit-check/repeatable',
    clause: 'Service: read-only',
    title: 'The same lookup always gets the same answer, in any order',
    when: on('deposit-check'),
  }),
  monitor({
    id: 'valid/service/json-content-type',
    level: 'recommended',
    clause: 'Service: JSON; RFC 8259 11',
    title: 'Every answer with a JSON body has the media type application/json or one that ends in +json',
    reading: 'Only answers to GET requests with a JSON body count. A proxy may answer others.',
    ifUnseen: inconclusive('not-seen', 'no answer arrived'),
    judge: (request, answer) => {
      if (request.method !== 'GET' || !answer.json.ok) return undefined;
      const label = header(answer, 'content-type');
      const isJson = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(label ?? '');
      return isJson
        ? pass
        : failed('media type', 'Content-Type: application/json', `Content-Type: ${label ?? '(none)'}`);
    },
  }),
  {
    kind: 'monitor',
    id: 'valid/service/no-user-data',
    level: 'required',
    clause: 'Service: no other data',
    title: 'No answer contains a user id, reference id, key or partner id that its request did not name',
    reading:
      "The partner of the request's key is not user data, nor is a header that is the same in all answers. A field whose name means user data, such as email, is.",
    ifUnseen: inconclusive('not-seen', 'no answer arrived'),
    watch: (known) => {
      const look = watchPrivacy(known);
      return (request, answer) => {
        const found = look(request, answer);
        if (found === undefined) return { verdict: pass };
        const verdict = failed('value', 'no data of other users, keys and partners', found.words);
        return { verdict, evidence: { request: found.request, reply: found.answer } };
      };
    },
  } satisfies Monitor,
];
