/**
 * What a generated client asks the mock for, and prints. The types say what the description promises of
 * each answer: a client whose own types promise less, or something else, does not compile.
 */

interface Membership {
  is_under_ib: boolean;
  date_joined: string | null;
}

interface Execution {
  status: 'EXECUTED';
  amountInUsd: number;
  executedAt: number;
}

type UserError =
  'Invalid user_id format' | 'Unauthorized' | 'Too many failed lookups. Please try again later.';

type DepositError =
  'Invalid reference_id format' | 'UNAUTHORIZED' | 'Deposit not found' | 'TOO_MANY_REQUESTS';

interface Reply<Found, Message> {
  readonly status: number;
  readonly found: Found | undefined;
  readonly refusal: { error: Message } | undefined;
}

/** Both lookups, with one key. */
export interface Lookups {
  readonly userStatus: (id: string) => Promise<Reply<Membership, UserError>>;
  readonly depositCheck: (id: string) => Promise<Reply<Execution, DepositError>>;
}

/** Takes a client through all answers that there are, and prints a line of each. */
export async function goThrough(clientOf: (url: string, key: string) => Lookups): Promise<void> {
  const url = process.argv[2] ?? '';
  const client = clientOf(url, 'northwind-key');
  const revoked = clientOf(url, 'northwind-revoked-key');
  const limited = clientOf(url, 'fabrikam-always-limited-key');
  const member = '11111111-1111-4111-8111-111111111111';
  const executed = '44444444-4444-4444-8444-444444444444';

  const user = async (lookups: Lookups, id: string) => {
    const { status, found, refusal } = await lookups.userStatus(id);
    if (refusal !== undefined) return `${status} ${refusal.error}`;
    if (found === undefined) return `${status}`;
    return `${status} ${found.is_under_ib} ${found.date_joined}`;
  };
  const deposit = async (lookups: Lookups, id: string) => {
    const { status, found, refusal } = await lookups.depositCheck(id);
    if (refusal !== undefined) return `${status} ${refusal.error}`;
    if (found === undefined) return `${status}`;
    return `${status} ${found.status} ${found.amountInUsd.toFixed(2)} at ${new Date(found.executedAt).toISOString()}`;
  };

  const lines = [
    `member: ${await user(client, member)}`,
    `foreign: ${await user(client, '22222222-2222-4222-8222-222222222222')}`,
    `invalid user: ${await user(client, 'not-a-uuid')}`,
    `revoked: ${await user(revoked, member)}`,
    `limited: ${await user(limited, member)}`,
    `executed: ${await deposit(client, executed)}`,
    `pending: ${await deposit(client, '55555555-5555-4555-8555-555555555555')}`,
    `foreign deposit: ${await deposit(client, '99999999-9999-4999-8999-999999999999')}`,
    `invalid deposit: ${await deposit(client, 'not-a-uuid')}`,
    `revoked: ${await deposit(revoked, executed)}`,
    `limited: ${await deposit(limited, executed)}`,
  ];
  console.log(lines.join('\n'));
}
