import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Fixture, FixtureDeposit } from '../../schemas/generated/types.ts';

/** A request, in the parts that decide its answer. */
export interface Asked {
  readonly method: string;
  /** The whole path, or the endpoint that it leads to. */
  readonly path: Endpoint | `/${string}`;
  /** What is looked up; undefined: the parameter is missing. */
  readonly id: string | undefined;
  /** Whether the id is one, by whoever drew it. */
  readonly isId: boolean;
  /** Undefined: no Authorization. */
  readonly key: string | undefined;
  /** Name of its world; the empty text is the main one. */
  readonly world: string;
}

/** What may be answered. */
export interface Expected {
  readonly status: number;
  readonly body: string;
  /** Whether a limiter counts it. */
  readonly counts: boolean;
  /** A deposit that is EXECUTED after polls, and those are counted: it may be answered so as well. */
  readonly becomes?: { readonly id: string; readonly afterPolls: number; readonly start: string };
}

export type Oracle = (asked: Asked) => Expected;

const error = (status: number, message: string, counts = false): Expected => ({
  status,
  body: JSON.stringify({ error: message }),
  counts,
});

/**
 * What the fixture says must be answered (Endpoints), while time stands still and nothing else goes wrong.
 * It knows nothing of the mock.
 */
export function oracleOf({ apiKeys = [], users = [], deposits = [] }: Fixture): Oracle {
  const partners = new Map(
    apiKeys.map(({ key, partner, state }) => [key, state === 'active' ? partner : null]),
  );
  const usersById = new Map(users.map((user) => [user.user_id.toLowerCase(), user]));
  const depositsById = new Map(deposits.map((deposit) => [deposit.reference_id.toLowerCase(), deposit]));
  const ownerOf = ({ user_id }: FixtureDeposit) => usersById.get(user_id.toLowerCase())?.partner ?? null;

  const userStatus = (partner: string, id: string): Expected => {
    const user = usersById.get(id);
    const isUnder = user?.partner === partner;
    const body = { is_under_ib: isUnder, date_joined: isUnder ? user.date_joined : null };
    return { status: 200, body: JSON.stringify(body), counts: !isUnder };
  };
  const depositCheck = (partner: string, id: string): Expected => {
    const deposit = depositsById.get(id);
    const notFound = error(404, 'Deposit not found', true);
    if (deposit === undefined || ownerOf(deposit) !== partner) return notFound;
    if (deposit.state === 'EXECUTED') {
      const { state: status, amountInUsd, executedAt } = deposit;
      return { status: 200, body: JSON.stringify({ status, amountInUsd, executedAt }), counts: true };
    }
    const { becomes } = deposit as {
      readonly becomes?: { readonly afterPolls?: number; amountInUsd: number };
    };
    if (becomes?.afterPolls === undefined) return notFound;
    const start = `{"status":"EXECUTED","amountInUsd":${JSON.stringify(becomes.amountInUsd)},"executedAt":`;
    return { ...notFound, becomes: { id, afterPolls: becomes.afterPolls, start } };
  };

  const answered = ({ method, path, id, isId, key }: Asked): Expected => {
    if (path !== 'user-status' && path !== 'deposit-check') return error(404, 'Not found');
    if (method !== 'GET' && method !== 'HEAD') return error(405, 'Method not allowed');
    const isUsers = path === 'user-status';
    const partner = key === undefined ? null : (partners.get(key) ?? null);
    if (partner === null) return error(401, isUsers ? 'Unauthorized' : 'UNAUTHORIZED');
    if (id === undefined || !isId) return error(400, `Invalid ${endpoints[path].parameter} format`, true);
    return (isUsers ? userStatus : depositCheck)(partner, id.toLowerCase());
  };
  return (asked) => {
    const expected = answered(asked);
    if (asked.method !== 'HEAD') return expected;
    const { becomes, ...others } = expected;
    return { ...others, body: '', ...(becomes && { becomes: { ...becomes, start: '' } }) };
  };
}
