import { header, repeatedNames, summary, type Answer } from './answer.ts';
import { fieldsOf, hasExactly, noObject, saysExecuted, saysMember, saysNumber } from './expectations.ts';
import type { Known } from './known.ts';
import type { Expected } from './model/model.ts';
import { userData, watchPrivacy } from './privacy.ts';
import { monitor, recommended, required, type Monitor, type Requirement } from './requirement.ts';
import { readTimestamp, sameInstant } from './timestamp.ts';
import { failed, held, unjudged, type Verdict } from './verdict.ts';

/** Judges `date_joined` where the answer says that the user is a member. */
const ofDate =
  (judge: (value: unknown, expected: string) => Verdict | undefined) =>
  (answer: Answer, { user, correct }: Expected): Verdict | undefined => {
    if (user === undefined || correct[0]!.outcome !== 'member') return undefined;
    const value = fieldsOf(answer)?.['date_joined'];
    // Other requirements judge what is wrong else.
    const isJudged = value !== undefined && saysMember(answer).kind === 'held';
    return isJudged ? judge(value, user.date_joined) : undefined;
  };

/** Judges the fields of a 200 that an EXECUTED deposit gets. */
const ofDeposit =
  (
    judge: (
      answer: Answer,
      deposit: { amountInUsd: number; executedAt: number },
      known: Known,
    ) => Verdict | undefined,
  ) =>
  (answer: Answer, { deposit }: Expected, known: Known): Verdict | undefined =>
    deposit?.state === 'EXECUTED' && answer.status === 200 ? judge(answer, deposit, known) : undefined;

const depositFields = ['status', 'amountInUsd', 'executedAt'];
const shown = (value: unknown) => `"date_joined": ${JSON.stringify(value)}`;

export const valid: readonly Requirement[] = [
  required({
    id: 'valid/user-status/member',
    clause: 'GET user-status, 200',
    title: "A user of the caller's IB: 200, is_under_ib is the boolean true",
    needs: 'user of the IB under test',
  }),
  required({
    id: 'valid/user-status/date-joined',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is the instant at which the user joined',
    reading: 'Compared as instants, to the precision in which the fixture states them.',
    needs: 'user of the IB under test',
    holds: ofDate((actual, date_joined) => {
      const wrong = failed('value', `"date_joined": "${date_joined}"`, shown(actual));
      if (actual === null) return wrong;
      const reading = typeof actual === 'string' ? readTimestamp(actual) : undefined;
      if (reading?.instant === undefined) return undefined;
      return sameInstant(readTimestamp(date_joined).instant!, reading.instant) ? held : wrong;
    }),
  }),
  required({
    id: 'valid/user-status/date-joined-format',
    clause: 'IB membership result, date_joined',
    title: 'date_joined is an ISO 8601 date and time in UTC',
    reading:
      'Z or a zero offset, any number of fraction digits; a naive time, another offset or a bare date is none.',
    needs: 'user of the IB under test',
    holds: ofDate((actual) => {
      if (actual === null) return undefined;
      const expected = 'an ISO 8601 UTC time, such as "2024-02-29T23:59:59.999Z"';
      if (typeof actual !== 'string') return failed('value', expected, `${shown(actual)} (not a string)`);
      const reading = readTimestamp(actual);
      return reading.kind === 'utc' ? held : failed('value', expected, `${shown(actual)} (${reading.why})`);
    }),
  }),
  recommended({
    id: 'valid/user-status/date-joined-rfc3339',
    clause: 'RFC 3339 5.6',
    title: 'date_joined keeps to the RFC 3339 profile',
    needs: 'user of the IB under test',
    holds: ofDate((actual) => {
      const reading = typeof actual === 'string' ? readTimestamp(actual) : undefined;
      if (reading?.kind !== 'utc') return undefined;
      return reading.rfc3339
        ? held
        : failed('value', 'RFC 3339: extended format, with T and seconds', shown(actual));
    }),
  }),
  required({
    id: 'valid/user-status/shape',
    clause: 'IB membership result',
    title: 'Exactly the two fields is_under_ib and date_joined, of their types',
    needs: 'user of the IB under test',
    holds: (answer, { user, correct }) => {
      if (user === undefined || correct[0]!.outcome !== 'member' || answer.status !== 200) return undefined;
      const isShaped =
        hasExactly(answer, 'is_under_ib', 'date_joined') &&
        typeof fieldsOf(answer)?.['is_under_ib'] === 'boolean';
      return isShaped
        ? held
        : failed(
            'shape',
            '200 with exactly {"is_under_ib": boolean, "date_joined": string or null}',
            summary(answer),
          );
    },
  }),
  required({
    id: 'valid/user-status/uuid-case',
    clause: 'GET user-status, "valid UUID"; RFC 9562 4',
    title: 'Upper and mixed case spell the same user',
    needs: 'user of the IB with a letter in its id',
  }),
  recommended({
    id: 'valid/user-status/percent-encoding',
    clause: 'RFC 3986 6.2.2.2',
    title: 'Percent-encoded unreserved characters spell the same user',
    needs: 'user of the IB under test',
  }),
  required({
    id: 'valid/user-status/repeatable',
    clause: 'What the service does: read-only lookup',
    title: 'The same lookup gives the same answer, in any order',
    needs: 'user of the IB under test',
  }),
  required({
    id: 'valid/deposit-check/executed',
    clause: 'GET deposit-check, 200',
    title: "An EXECUTED deposit of a user under the caller's IB: 200, status is exactly EXECUTED",
    needs: 'EXECUTED deposit of a user under the IB',
  }),
  required({
    id: 'valid/deposit-check/amount',
    clause: 'Executed deposit result, amountInUsd',
    title: 'amountInUsd is a JSON number, equal to the amount as an IEEE double',
    needs: 'EXECUTED deposit of a user under the IB',
    holds: ofDeposit((answer, { amountInUsd }) => saysNumber('amountInUsd', amountInUsd)(answer)),
  }),
  required({
    id: 'valid/deposit-check/executed-at',
    clause: 'Executed deposit result, executedAt',
    title: 'executedAt is a JSON number: the execution time in Unix milliseconds',
    needs: 'EXECUTED deposit of a user under the IB',
    holds: ofDeposit((answer, { executedAt }) => saysNumber('executedAt', executedAt)(answer)),
  }),
  required({
    id: 'valid/deposit-check/shape',
    clause: 'Executed deposit result',
    title: 'The three fields are present, and nothing carries other user data',
    reading:
      'A field of a wrong type is spoken of by that field; a harmless fourth field by valid/deposit-check/closed.',
    needs: 'EXECUTED deposit of a user under the IB',
    holds: ofDeposit((answer, _, known) => {
      const fields = fieldsOf(answer);
      const expected = '200 with "status", "amountInUsd" and "executedAt"';
      if (fields === undefined) return failed('JSON', expected, noObject(answer));
      const twice = repeatedNames(answer.text);
      if (twice.length > 0)
        return failed('shape', expected, `${summary(answer)} (twice: ${twice.join(', ')})`);
      const missing = depositFields.filter((name) => !Object.hasOwn(fields, name));
      if (missing.length > 0)
        return failed('shape', expected, `${summary(answer)} (no ${missing.join(', ')})`);
      const leak = userData(fields, known);
      return leak === undefined
        ? held
        : failed('shape', `${expected}, and no user data`, `${summary(answer)} (${leak})`);
    }),
  }),
  recommended({
    id: 'valid/deposit-check/closed',
    clause: 'Executed deposit result',
    title: 'No fourth field',
    needs: 'EXECUTED deposit of a user under the IB',
    holds: ofDeposit((answer) => {
      const names = Object.keys(fieldsOf(answer) ?? {});
      // A field by another name is one that is missing.
      if (saysExecuted(answer).kind !== 'held' || !depositFields.every((name) => names.includes(name)))
        return undefined;
      return names.length > depositFields.length
        ? failed('shape', 'exactly the fields status, amountInUsd and executedAt', summary(answer))
        : held;
    }),
  }),
  required({
    id: 'valid/deposit-check/uuid-case',
    clause: 'GET deposit-check, "valid UUID"; RFC 9562 4',
    title: 'Upper and mixed case spell the same deposit',
    needs: 'EXECUTED deposit under the IB with a letter in its id',
  }),
  required({
    id: 'valid/deposit-check/any-uuid-version',
    clause: 'GET deposit-check: string (UUID), no version named',
    title: 'A reference_id of any UUID version is well formed: never 400',
  }),
  recommended({
    id: 'valid/deposit-check/percent-encoding',
    clause: 'RFC 3986 6.2.2.2',
    title: 'Percent-encoded unreserved characters spell the same deposit',
    needs: 'EXECUTED deposit of a user under the IB',
  }),
  required({
    id: 'valid/deposit-check/repeatable',
    clause: 'What the service does: read-only lookup',
    title: 'The same lookup gives the same answer, in any order',
    needs: 'EXECUTED deposit of a user under the IB',
  }),
  monitor({
    id: 'valid/service/json-content-type',
    level: 'recommended',
    clause: 'What the service does: both return JSON; RFC 8259 11',
    title: 'Every answer with a JSON body is labelled application/json or +json',
    reading:
      'Answers to odd requests that a front end may give are not counted: only GET requests that the interface speaks of.',
    unseen: unjudged('not-seen', 'no answer arrived'),
    sees: (request, answer) => {
      if (request.method !== 'GET' || !answer.json.ok) return undefined;
      const label = header(answer, 'content-type');
      const isJson = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(label ?? '');
      return isJson
        ? held
        : failed('media type', 'Content-Type: application/json', `Content-Type: ${label ?? '(none)'}`);
    },
  }),
  {
    kind: 'monitor',
    id: 'valid/service/no-user-data',
    level: 'required',
    clause: 'What the service does: returns no user data beyond membership and join date',
    title: 'No answer holds a user id, key or partner id that its request did not name',
    reading:
      'The partner of the key that was sent is no user data, nor is a header field that is the same in all answers. A field whose name says user data is.',
    unseen: unjudged('not-seen', 'no answer arrived'),
    watch: (known) => {
      const look = watchPrivacy(known);
      return (request, answer) => {
        const found = look(request, answer);
        if (found === undefined) return { verdict: held };
        const verdict = failed('value', 'nothing of other users, keys and partners', found.words);
        return { verdict, evidence: { request: found.request, reply: found.answer } };
      };
    },
  } satisfies Monitor,
];
