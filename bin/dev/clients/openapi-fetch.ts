/**
 * A client with openapi-fetch and types generated from the OpenAPI document. Argument: URL. `check-openapi-client.ts`
 * compiles it in a separate folder. It compiles only if the generated types fit these declarations.
 */
import createClient from 'openapi-fetch';
import type { paths } from './interface.ts';

type UserError =
  'Invalid user_id format' | 'Unauthorized' | 'Too many failed lookups. Please try again later.';
type DepositError =
  'Invalid reference_id format' | 'UNAUTHORIZED' | 'Deposit not found' | 'TOO_MANY_REQUESTS';

const clientOf = (key: string) =>
  createClient<paths>({ baseUrl: process.argv[2] ?? '', headers: { Authorization: `Bearer ${key}` } });

async function user(key: string, user_id: string): Promise<void> {
  const { data, error, response } = await clientOf(key).GET('/api/ib/user-status', {
    params: { query: { user_id } },
  });
  const message: UserError | undefined = error?.error;
  const joined: string | null | undefined = data?.date_joined;
  const isMember: boolean | undefined = data?.is_under_ib;
  console.log(response.status, message ?? `${isMember} ${joined}`);
}

async function deposit(key: string, reference_id: string): Promise<void> {
  const { data, error, response } = await clientOf(key).GET('/api/ib/deposit-check', {
    params: { query: { reference_id } },
  });
  const message: DepositError | undefined = error?.error;
  const status: 'EXECUTED' | undefined = data?.status;
  const executed = data && `${data.amountInUsd.toFixed(2)} at ${new Date(data.executedAt).toISOString()}`;
  console.log(response.status, message ?? `${status} ${executed}`);
}

/** The compiler must refuse these calls. It would accept them if the client were `any`. */
export function refused(): void {
  // @ts-expect-error -- the parameter is user_id
  void clientOf('').GET('/api/ib/user-status', { params: { query: { userId: '' } } });
  const found = clientOf('').GET('/api/ib/user-status', { params: { query: { user_id: '' } } });
  // @ts-expect-error -- user-status has no such message
  void found.then(({ error }) => error?.error === 'Deposit not found');
}

const member = '11111111-1111-4111-8111-111111111111';
const executed = '44444444-4444-4444-8444-444444444444';
await user('northwind-key', member);
await user('northwind-key', '22222222-2222-4222-8222-222222222222');
await user('northwind-key', 'not-a-uuid');
await user('northwind-revoked-key', member);
await user('fabrikam-always-limited-key', member);
await deposit('northwind-key', executed);
await deposit('northwind-key', '55555555-5555-4555-8555-555555555555');
await deposit('northwind-key', 'not-a-uuid');
await deposit('northwind-revoked-key', executed);
await deposit('fabrikam-always-limited-key', executed);
