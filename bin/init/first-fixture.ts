import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { printable } from '../../reports/text.ts';
import { defined } from '../../schemas/values.ts';
import type { Fixture, FixtureLimits } from '../../schemas/generated/types.ts';
import { summary, type Reply } from '../../suites/answer.ts';
import { fieldsOf } from '../../suites/rules/expectations.ts';
import { createClient, realClock, type RunOptions } from '../../suites/index.ts';
import { depositCheck, userStatus, type Request } from '../../suites/request.ts';
import { ourHeaders } from '../run-options.ts';
import { KEY_VARIABLE, amountIn, dateIn, isoOf, limitIn, timeIn, type Answers } from './answers.ts';

/** Id of the partner in the fixture. The server never sees it. */
const PARTNER = 'partner';

/** The replies to the lookups of both ids; undefined for an id that nobody gave. */
export interface Replies {
  readonly membership: Reply | undefined;
  readonly deposit: Reply | undefined;
}

/** Looks up the member and the deposit. */
export async function lookUpIds(
  { key, member, executed }: Pick<Answers, 'key' | 'member' | 'executed'>,
  options: Pick<RunOptions, 'target' | 'timeoutMs' | 'tls' | 'signal'>,
): Promise<Replies> {
  const client = createClient({
    ...options,
    ...options.tls,
    connections: 2,
    headers: ourHeaders,
    now: realClock.now,
  });
  const replyTo = ({ method, target }: Request) =>
    client.send({ method, target, headers: { authorization: `Bearer ${key}` } });
  try {
    const [membership, deposit] = await Promise.all([
      member === undefined ? undefined : replyTo(userStatus(member)),
      executed === undefined ? undefined : replyTo(depositCheck(executed)),
    ]);
    return { membership, deposit };
  } finally {
    await client.close();
  }
}

/** A value of the fixture: what was typed, what the server sent, and what the fixture gets. */
export interface Fact {
  /** `users[0].date_joined` */
  readonly place: string;
  readonly typed: string | undefined;
  /** The value as it was sent, or the whole answer if it does not have it. */
  readonly sent: string;
  /** Undefined: neither can be read. */
  readonly value: string | number | undefined;
  readonly isFromServer: boolean;
  /** Whether the server sent another value than was typed. */
  readonly differs: boolean;
}

/** The values that answers and replies give for the records of a fixture. */
export function factsOf(answers: Answers, { membership, deposit }: Replies) {
  const { dateJoined, amountInUsd, executedAt } = answers;
  return {
    users:
      membership === undefined
        ? []
        : [factOf('users[0].date_joined', dateJoined, membership, isMember, dateIn)],
    deposits:
      deposit === undefined
        ? []
        : [
            factOf('deposits[0].amountInUsd', amountInUsd, deposit, isExecuted, amountIn),
            factOf('deposits[0].executedAt', executedAt, deposit, isExecuted, timeIn),
          ],
  };
}

type Fields = Readonly<Record<string, unknown>>;

// A wrong type or letter case is for `verify` to find.
const isMember = ({ is_under_ib: isUnderIb }: Fields) => String(isUnderIb) === 'true';
const isExecuted = ({ status }: Fields) => String(status).toUpperCase() === 'EXECUTED';

function factOf(
  place: string,
  typed: string | undefined,
  reply: Reply,
  isUsable: (fields: Fields) => boolean,
  read: (value: unknown) => string | number | undefined,
): Fact {
  const name = place.replace(/.*\./, '');
  const fields = reply.kind === 'answer' && reply.status === 200 ? fieldsOf(reply) : undefined;
  const theirs = fields !== undefined && isUsable(fields) ? read(fields[name]) : undefined;
  const ours = typed === undefined ? undefined : read(typed);
  return {
    place,
    typed,
    sent: shownIn(reply, fields === undefined || !isUsable(fields) ? undefined : name),
    value: ours ?? theirs,
    isFromServer: ours === undefined && theirs !== undefined,
    differs: ours !== undefined && ours !== theirs,
  };
}

const MAX_SENT = 160;

/** The value of a field as it was sent, or the whole answer. */
function shownIn(reply: Reply, name: string | undefined): string {
  if (reply.kind === 'trouble') return reply.words;
  const tree = parseTree(reply.text);
  const node = name === undefined || tree === undefined ? undefined : findNodeAtLocation(tree, [name]);
  if (node === undefined) return printable(summary(reply), MAX_SENT);
  return printable(reply.text.slice(node.offset, node.offset + node.length), MAX_SENT);
}

/**
 * Returns the fixture to write. It has the records whose values are known, and the name of the variable instead of
 * the key.
 */
export function fixtureOf(answers: Answers, facts: ReturnType<typeof factsOf>, schema: string): Fixture {
  const [joined] = facts.users.map(({ value }) => value);
  const [amountInUsd, executedAt] = facts.deposits.map(({ value }) => value);
  const { member: user_id, executed: reference_id } = answers;
  const isDeposit = joined !== undefined && amountInUsd !== undefined && executedAt !== undefined;
  const deposit = { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt };
  const limits = limitsOf(answers);
  return {
    $schema: schema,
    partners: [{ id: PARTNER }],
    apiKeys: [{ key: `\${${KEY_VARIABLE}}`, partner: PARTNER, state: 'active' }],
    users: joined === undefined ? [] : [{ user_id, partner: PARTNER, date_joined: joined }],
    deposits: isDeposit ? [deposit] : [],
    ...(limits && { limits }),
  } as Fixture;
}

/** The limits that were stated; undefined for none. */
function limitsOf({ failedLookups = '', requests = '' }: Answers): FixtureLimits | undefined {
  const [failed, all] = [limitIn(failedLookups), limitIn(requests)];
  if (failed === undefined && all === undefined) return undefined;
  return defined({
    'user-status': failed && { failedLookups: failed.count, windowSeconds: failed.windowSeconds },
    'deposit-check': all && { requests: all.count, windowSeconds: all.windowSeconds },
  });
}

/** Lines that show what was typed beside what the server sent. */
export function compared({ users, deposits }: ReturnType<typeof factsOf>): readonly string[] {
  const lacksUser = users.some(({ value }) => value === undefined);
  return [...users, ...deposits].flatMap((fact) => {
    const { place, typed, sent, differs, value } = fact;
    const isWritten = value !== undefined && !(lacksUser && place.startsWith('deposits'));
    return [
      '',
      place,
      `  you typed:        ${typed ?? 'nothing'}`,
      `  the server sent:  ${sent}${differs ? '  (differs)' : ''}`,
      `  in the fixture:   ${isWritten ? withDate(fact) : 'left out, because a value is missing: add it there'}`,
    ];
  });
}

/** Seconds instead of milliseconds are a date in 1970. */
const withDate = ({ place, value }: Fact) =>
  place.endsWith('executedAt') ? `${value}, that is ${isoOf(Number(value)) ?? 'no date'}` : String(value);
