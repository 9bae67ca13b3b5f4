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

/** The records that the server returned; empty if it did not, or if a fixture cannot contain them. */
export interface ServerData {
  readonly users: readonly FixtureUser[];
  readonly deposits: readonly FixtureExecutedDeposit[];
}

/** Looks up the member and the deposit. */
export async function lookUpIds(
  answers: Answers,
  options: Pick<RunOptions, 'target' | 'timeoutMs' | 'tls' | 'signal'>,
): Promise<ServerData> {
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
    return serverDataOf(answers, membership, deposit);
  } finally {
    await client.close();
  }
}

export function serverDataOf(
  { member, executed }: Pick<Answers, 'member' | 'executed'>,
  membership: Reply | undefined,
  deposit: Reply | undefined,
): ServerData {
  const { is_under_ib: isMember, date_joined: joined } = fieldsOf200(membership);
  const { status: state, amountInUsd, executedAt } = fieldsOf200(deposit);
  const user = { user_id: member, partner: PARTNER, date_joined: inUtc(joined) };
  const found = { reference_id: executed, user_id: member, state, amountInUsd, executedAt };
  return {
    users: isMember === true && isValid({ users: [user] }) ? [user as FixtureUser] : [],
    deposits: isValid({ deposits: [found] }) ? [found as FixtureExecutedDeposit] : [],
  };
}

const isValid = (part: object) => validate(part);

const fieldsOf200 = (reply: Reply | undefined): Readonly<Record<string, unknown>> =>
  (reply?.kind === 'answer' && reply.status === 200 ? fieldsOf(reply) : undefined) ?? {};

/** Converts a date with an offset to UTC. */
function inUtc(date: unknown): unknown {
  if (typeof date !== 'string' || date.endsWith('Z')) return date;
  const instant = Date.parse(date);
  return Number.isNaN(instant) ? date : new Date(instant).toISOString();
}

/** Returns the fixture to write. It contains the name of the variable instead of the key. */
export function fixtureOf({ users, deposits }: ServerData, schema: string) {
  return {
    $schema: schema,
    partners: [{ id: PARTNER }],
    apiKeys: [{ key: `\${${KEY_VARIABLE}}`, partner: PARTNER, state: 'active' }],
    users: [...users],
    deposits: users.length === 0 ? [] : [...deposits],
  } satisfies Fixture;
}

/** Returns the fixture for the check of the server. It contains the ids even if the server does not know them. */
export function fixtureForCheck({ key, member, executed }: Answers, data: ServerData): Fixture {
  const user = { partner: PARTNER, date_joined: '1970-01-01T00:00:00Z' };
  const deposit = { user_id: member ?? '', state: 'EXECUTED', amountInUsd: 0, executedAt: 0 } as const;
  const users = member === undefined ? [] : [{ ...user, user_id: member }];
  const deposits = executed === undefined ? [] : [{ ...deposit, reference_id: executed }];
  const assumed = {
    users: data.users.length === 0 ? users : data.users,
    deposits: data.deposits.length === 0 ? deposits : data.deposits,
  };
  return { ...fixtureOf(assumed, ''), apiKeys: [{ key, partner: PARTNER, state: 'active' }] };
}

/** Returns a note on ids that will be missing from the fixture. */
export function missingNotes({ member, executed }: Answers, data: ServerData): readonly string[] {
  const { users, deposits } = fixtureOf(data, '');
  const missing = [
    ...(member !== undefined && users.length === 0 ? ['users[0]'] : []),
    ...(executed !== undefined && deposits.length === 0 ? ['deposits[0]'] : []),
  ];
  return missing.length === 0
    ? []
    : [`The fixture will not contain ${missing.join(' and ')}: the server did not return this data.`];
}

/** Seconds instead of milliseconds are a date in 1970. */
const withDate = (ms: unknown) => {
  const date = new Date(Number(ms));
  return `${String(ms)}, that is ${Number.isNaN(date.getTime()) ? 'no date' : date.toISOString()}`;
};

/** Fields that come from the server. Only the owner of the data knows the correct values. */
const serverFields = [
  { list: 'users', field: 'date_joined', parse: String, wordsOf: String },
  { list: 'deposits', field: 'amountInUsd', parse: Number, wordsOf: String },
  { list: 'deposits', field: 'executedAt', parse: Number, wordsOf: withDate },
] as const;

function serverFieldsIn(data: ServerData) {
  return serverFields.flatMap(({ list, field, parse, wordsOf }) =>
    data[list].map((record) => ({
      place: `${list}[0].${field}`,
      value: wordsOf((record as unknown as Readonly<Record<string, unknown>>)[field]),
      corrected: (text: string) => ({ [list]: [{ ...record, [field]: parse(text) }] }),
    })),
  );
}

/** Returns the values that come from the server, with their places in the fixture. */
export const serverValues = (data: ServerData): readonly string[] =>
  serverFieldsIn(data).map(({ place, value }) => `${place}: ${value}`);

/** Asks the user for the values in their own records. Otherwise a bug of the server would count as correct. */
export async function confirmValues(data: ServerData, prompter: Prompter): Promise<ServerData> {
  let checked = data;
  for (const nth of serverFieldsIn(data).keys()) {
    const { place, value, corrected } = serverFieldsIn(checked)[nth]!;
    const text = await prompter.ask({
      message: `${place}: the server says ${value}. Value in your records (Enter: the same)`,
      isSecret: false,
      problem: (answer) =>
        answer === '' || isValid(corrected(answer))
          ? undefined
          : `${answer}: is not valid; use the format of the server's value`,
    });
    if (text !== '') checked = { ...checked, ...corrected(text) };
  }
  return checked;
}
