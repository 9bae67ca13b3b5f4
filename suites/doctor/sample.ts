import type { Fixture, FixtureDeposit, FixtureUser } from '../../schemas/generated/types.ts';
import { summary, type Answer } from '../answer.ts';
import { executedResult, fieldsOf, saysMember, saysNotMember } from '../expectations.ts';
import type { Known } from '../known.ts';
import { depositCheck, userStatus, type Request } from '../request.ts';
import { readTimestamp, sameInstant } from '../timestamp.ts';
import { failed, held, type Expectation, type Verdict } from '../verdict.ts';
import { bad, good, unknown, type Finding } from './finding.ts';

/** A part of the fixture that is held against the target. */
export interface Specimen {
  /** Where it stands: `deposits[3]`. */
  readonly place: string;
  readonly request: Request;
  readonly judge: (answer: Answer) => Finding;
}

/** One of each kind, as the fixture has them; a deposit that polls would turn is left in peace. */
export function specimens(fixture: Fixture, known: Known): readonly Specimen[] {
  const { users = [], deposits = [] } = fixture;
  const user = (one: FixtureUser, what: string, expectation: Expectation): Specimen =>
    specimen(`users[${users.indexOf(one)}]`, what, userStatus(one.user_id), expectation);
  const deposit = (one: FixtureDeposit, what: string, expectation: Expectation): Specimen =>
    specimen(`deposits[${deposits.indexOf(one)}]`, what, depositCheck(one.reference_id), expectation);
  const executedAbroad = known.foreignDeposits.find(({ state }) => state === 'EXECUTED');
  return [
    ...known.members.slice(0, 1).map((one) => user(one, 'a user of the IB', joined(one.date_joined))),
    ...known.foreigners.slice(0, 1).map((one) => user(one, 'a user outside the IB', saysNotMember)),
    ...known.executed.slice(0, 1).map((one) => deposit(one, 'EXECUTED', executedResult(one))),
    ...known.pending.slice(0, 1).map((one) => deposit(one, 'pending', isHidden)),
    ...known.failed.slice(0, 1).map((one) => deposit(one, 'failed', isHidden)),
    ...[executedAbroad ?? known.foreignDeposits[0]].flatMap((one) =>
      one === undefined ? [] : [deposit(one, 'of a user outside the IB', isHidden)],
    ),
  ];
}

function specimen(place: string, what: string, request: Request, expectation: Expectation): Specimen {
  return { place, request, judge: (answer) => findingOf(place, what, answer, expectation(answer)) };
}

function findingOf(place: string, what: string, answer: Answer, verdict: Verdict): Finding {
  if (answer.status === 429) return unknown('limited (429) before anything could be seen');
  if (answer.status === 401) return unknown('the key is turned away (401)');
  if (verdict.kind === 'held') return good(`${what}, as the fixture says`);
  if (verdict.kind !== 'failed') return unknown(summary(answer));
  return bad(
    `${verdict.actual}, though the fixture says ${what}: ${verdict.expected}`,
    `Correct ${place} or the data of the target, unless it is a fault of the target, which a run will tell; where several are off, see that the key under test is the partner's own.`,
  );
}

/** How it is hidden is judged by verify; here a 404 is enough. */
const isHidden: Expectation = (answer) =>
  answer.status === 404 ? held : failed('status', '404', summary(answer));

/** A member since the very instant; how the instant is written is judged by verify. */
const joined =
  (date: string): Expectation =>
  (answer) => {
    const verdict = saysMember(answer);
    if (verdict.kind !== 'held') return verdict;
    const actual = fieldsOf(answer)?.['date_joined'];
    const reading = typeof actual === 'string' ? readTimestamp(actual) : undefined;
    const stated = readTimestamp(date).instant;
    if (reading?.instant === undefined || stated === undefined || sameInstant(stated, reading.instant))
      return held;
    return failed('value', `"date_joined": "${date}"`, `"date_joined": ${JSON.stringify(actual)}`);
  };
