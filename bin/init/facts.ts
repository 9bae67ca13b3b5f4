import type { Fixture, FixtureExecutedDeposit, FixtureUser } from '../../schemas/generated/types.ts';
import validate from '../../schemas/generated/fixture.cjs';
import { fieldsOf } from '../../suites/expectations.ts';
import type { Reply } from '../../suites/answer.ts';
import { KEY_VARIABLE, type Wishes } from './wishes.ts';

/** Id of the partner in a first fixture: a name for its key and its users, which the server never sees. */
const PARTNER = 'partner';

/** What a server said of the ids that it was asked for; undefined where it did not say it. */
export interface Facts {
  readonly user?: FixtureUser;
  readonly deposit?: FixtureExecutedDeposit;
}

/** Reads answers to lookups of a member and of an EXECUTED deposit, as far as a fixture can hold them. */
export function factsOf(
  { member, executed }: Pick<Wishes, 'member' | 'executed'>,
  membership: Reply | undefined,
  deposit: Reply | undefined,
): Facts {
  const { is_under_ib: isMember, date_joined: joined } = fieldsOf200(membership);
  const { status: state, amountInUsd, executedAt } = fieldsOf200(deposit);
  const user = { user_id: member, partner: PARTNER, date_joined: inUtc(joined) };
  // With an amount it is EXECUTED, or no deposit of a fixture.
  const found = { reference_id: executed, user_id: member, state, amountInUsd, executedAt };
  return {
    ...(isMember === true && isGood({ users: [user] }) ? { user: user as FixtureUser } : {}),
    ...(isGood({ deposits: [found] }) ? { deposit: found as FixtureExecutedDeposit } : {}),
  };
}

/** Whether a fixture may hold it. */
export const isGood = (part: object) => validate(part);

const fieldsOf200 = (reply: Reply | undefined): Readonly<Record<string, unknown>> =>
  (reply?.kind === 'answer' && reply.status === 200 ? fieldsOf(reply) : undefined) ?? {};

/** A date as it is, where a fixture takes it; else the same instant, as far as it can be told. */
function inUtc(date: unknown): unknown {
  if (typeof date !== 'string' || date.endsWith('Z')) return date;
  const instant = Date.parse(date);
  return Number.isNaN(instant) ? date : new Date(instant).toISOString();
}

/** The fixture of what is known, in the order in which it is written. The key stands in it by its variable. */
export function fixtureOf({ user, deposit }: Facts, schema: string): Fixture {
  return {
    $schema: schema,
    partners: [{ id: PARTNER }],
    apiKeys: [{ key: `\${${KEY_VARIABLE}}`, partner: PARTNER, state: 'active' }],
    users: user === undefined ? [] : [user],
    deposits: deposit === undefined || user === undefined ? [] : [deposit],
  };
}

/** The fixture to hold against the server: what was asked for is in it whatever the server said, so that its answer is told. */
export function supposed({ key, member, executed }: Wishes, facts: Facts): Fixture {
  const user = member === undefined ? undefined : { user_id: member, partner: PARTNER, date_joined: EPOCH };
  const deposit =
    member === undefined || executed === undefined
      ? undefined
      : ({
          reference_id: executed,
          user_id: member,
          state: 'EXECUTED',
          amountInUsd: 0,
          executedAt: 0,
        } as const);
  const { apiKeys, ...rest } = fixtureOf(
    { ...(user === undefined ? {} : { user }), ...(deposit === undefined ? {} : { deposit }), ...facts },
    '',
  );
  return { ...rest, apiKeys: apiKeys!.map((one) => ({ ...one, key })) };
}

const EPOCH = '1970-01-01T00:00:00Z';
