import validate from '../../schemas/generated/fixture.cjs';
import type { Fixture, FixtureExecutedDeposit, FixtureUser } from '../../schemas/generated/types.ts';
import type { Reply } from '../../suites/answer.ts';
import { fieldsOf } from '../../suites/expectations.ts';
import { createClient, realClock, type RunOptions } from '../../suites/index.ts';
import { depositCheck, userStatus, type Request } from '../../suites/request.ts';
import type { Prompter } from '../cli-context.ts';
import { ourHeaders } from '../run-options.ts';
import { KEY_VARIABLE, type Answers } from './answers.ts';

/** Id of the partner in the fixture. The server never sees it. */
const PARTNER = 'partner';

/** What the server says about the ids; undefined if it does not say it, or a fixture cannot hold it. */
export interface Facts {
  readonly user?: FixtureUser;
  readonly deposit?: FixtureExecutedDeposit;
}

/** Looks up the member and the deposit. */
export async function askServer(
  answers: Answers,
  options: Pick<RunOptions, 'target' | 'timeoutMs' | 'tls' | 'signal'>,
): Promise<Facts> {
  const { key, member, executed } = answers;
  const client = createClient({
    ...options,
    ...options.tls,
    connections: 2,
    headers: ourHeaders,
    now: realClock.now,
  });
  const answerTo = ({ method, target }: Request) =>
    client.send({ method, target, headers: { authorization: `Bearer ${key}` } });
  try {
    const [membership, deposit] = await Promise.all([
      member === undefined ? undefined : answerTo(userStatus(member)),
      executed === undefined ? undefined : answerTo(depositCheck(executed)),
    ]);
    return factsOf(answers, membership, deposit);
  } finally {
    await client.close();
  }
}

export function factsOf(
  { member, executed }: Pick<Answers, 'member' | 'executed'>,
  membership: Reply | undefined,
  deposit: Reply | undefined,
): Facts {
  const { is_under_ib: isMember, date_joined: joined } = fieldsOf200(membership);
  const { status: state, amountInUsd, executedAt } = fieldsOf200(deposit);
  const user = { user_id: member, partner: PARTNER, date_joined: inUtc(joined) };
  const found = { reference_id: executed, user_id: member, state, amountInUsd, executedAt };
  return {
    ...(isMember === true && isValid({ users: [user] }) ? { user: user as FixtureUser } : {}),
    ...(isValid({ deposits: [found] }) ? { deposit: found as FixtureExecutedDeposit } : {}),
  };
}

const isValid = (part: object) => validate(part);

const fieldsOf200 = (reply: Reply | undefined): Readonly<Record<string, unknown>> =>
  (reply?.kind === 'answer' && reply.status === 200 ? fieldsOf(reply) : undefined) ?? {};

/** A date with an offset as the same instant in UTC. */
function inUtc(date: unknown): unknown {
  if (typeof date !== 'string' || date.endsWith('Z')) return date;
  const instant = Date.parse(date);
  return Number.isNaN(instant) ? date : new Date(instant).toISOString();
}

/** The fixture to write. It names the variable of the key. */
export function fixtureOf({ user, deposit }: Facts, schema: string): Fixture {
  return {
    $schema: schema,
    partners: [{ id: PARTNER }],
    apiKeys: [{ key: `\${${KEY_VARIABLE}}`, partner: PARTNER, state: 'active' }],
    users: user === undefined ? [] : [user],
    deposits: deposit === undefined || user === undefined ? [] : [deposit],
  };
}

/** The fixture for the check of the server. It contains the ids also if the server does not know them. */
export function assumedFixture({ key, member = '', executed = '' }: Answers, facts: Facts): Fixture {
  const user = { user_id: member, partner: PARTNER, date_joined: EPOCH };
  const amount = { amountInUsd: 0, executedAt: 0 };
  const deposit = { reference_id: executed, user_id: member, state: 'EXECUTED', ...amount } as const;
  const assumed = { ...(member && { user }), ...(executed && { deposit }), ...facts };
  const { apiKeys, ...rest } = fixtureOf(assumed, '');
  return { ...rest, apiKeys: apiKeys!.map((one) => ({ ...one, key })) };
}

const EPOCH = '1970-01-01T00:00:00Z';

/** Which ids the fixture will lack. */
export function notesOn({ member, executed }: Answers, { user, deposit }: Facts): readonly string[] {
  const missing = [
    ...(member !== undefined && user === undefined ? ['users[0]'] : []),
    ...(executed !== undefined && (user === undefined || deposit === undefined) ? ['deposits[0]'] : []),
  ];
  return missing.length === 0
    ? []
    : [`The fixture will be without ${missing.join(' and ')}: the server did not return their data.`];
}

/** Values of the server. Only the owner of the data knows whether they are right. */
const claims = [
  { place: 'users[0].date_joined', of: 'user', field: 'date_joined', parse: String },
  { place: 'deposits[0].amountInUsd', of: 'deposit', field: 'amountInUsd', parse: Number },
  { place: 'deposits[0].executedAt', of: 'deposit', field: 'executedAt', parse: Number },
] as const;

const claimOf = (facts: Facts, { of, field }: (typeof claims)[number]) =>
  (facts[of] as Readonly<Record<string, string | number>> | undefined)?.[field];

/** The values that come from the server, with their places in the fixture. */
export const valuesOf = (facts: Facts): readonly string[] =>
  claims.flatMap((claim) => {
    const value = claimOf(facts, claim);
    return value === undefined ? [] : [`${claim.place}: ${value}`];
  });

/** Asks for the values in one's own records: a fixture that repeats a mistake of the server would pass it. */
export async function askRecords(facts: Facts, prompter: Prompter): Promise<Facts> {
  let checked = facts;
  for (const claim of claims) {
    const claimed = claimOf(checked, claim);
    if (claimed === undefined) continue;
    const { place, of, field, parse } = claim;
    const before = checked;
    const corrected = (text: string): Facts => ({ ...before, [of]: { ...before[of], [field]: parse(text) } });
    const text = await prompter.ask({
      message: `${place}: the server says ${claimed}. Your own records? (Enter: the same)`,
      isSecret: false,
      problem: (answer) =>
        answer === '' || isValid(partsOf(corrected(answer)))
          ? undefined
          : `${answer}: is not a valid value; that of the server has the right form`,
    });
    if (text !== '') checked = corrected(text);
  }
  return checked;
}

const partsOf = ({ user, deposit }: Facts) => ({
  ...(user === undefined ? {} : { users: [user] }),
  ...(deposit === undefined ? {} : { deposits: [deposit] }),
});
