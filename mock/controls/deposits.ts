import type { FixtureDeposit } from '../../schemas/generated/types.ts';
import { isValidId } from '../handler.ts';
import { Refusal, badRequest, emitChange, timeIn, type WorldHandle, type Sandbox } from '../session.ts';
import { depositNow, lookUp, valuesOf, type Deposit, type DepositNow } from '../world.ts';
import { listOf, readItem } from './data.ts';
import { integer, number, oneOf, required, text, type ValuesOf } from './fields.ts';
import { operation, bySchema } from './operation.ts';

/** Default amount (USD) of an executed deposit. */
const DEFAULT_AMOUNT = 100;

/** `id` in the path. */
const byId = { id: required(text(), 'the reference_id of a deposit') };

const execution = { amountInUsd: number(), executedAt: integer(0) };

/** The deposits of a world, by reference_id. */
export const deposits = {
  list: listOf(
    'deposits',
    'The deposits in their current state, with what they become. This is no poll.',
    ({ peek }) => valuesOf(peek().world.deposits),
    (handle) => (deposit: Deposit) => shownDeposit(handle, handle.peek(), deposit),
    oneOf(['EXECUTED', 'pending', 'failed'], { description: 'only deposits in this state' }),
  ),
  get: operation('GET /deposits/{id}', 'One deposit.', {
    result: 'shownDeposit',
    parameters: byId,
    args: (id: string) => [undefined, { id }],
    run: (handle, { id }) => shownDeposit(handle, handle.peek(), findDeposit(handle.peek(), id)),
  }),
  add: operation(
    'POST /deposits',
    'Adds a deposit in the format of the fixture; afterSeconds counts from now.',
    {
      result: 'shownDeposit',
      body: bySchema<FixtureDeposit>('deposit'),
      status: 201,
      args: (deposit: FixtureDeposit) => [deposit],
      run: addDeposit,
    },
  ),
  execute: operation(
    'POST /deposits/{id}/execute',
    'Executes a pending deposit, by default as in the fixture or with 100 USD; 409 if its state is final.',
    {
      result: 'shownDeposit',
      parameters: byId,
      body: execution,
      example: { amountInUsd: 10, executedAt: 1767225600000 },
      args: (id: string, given: ValuesOf<typeof execution> = {}) => [given, { id }],
      run: (handle, { id, ...given }) => {
        const { reference_id, user_id, ...deposit } = findPending(handle, id);
        const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
        const amountInUsd = given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT;
        const at = given.executedAt ?? planned?.executedAt ?? timeIn(handle.session, handle.open());
        const executedAt = Math.trunc(at);
        const executed = { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt } as const;
        return save(handle, executed, 'executed');
      },
    },
  ),
  fail: operation('POST /deposits/{id}/fail', 'Makes a pending deposit fail; 409 if its state is final.', {
    result: 'shownDeposit',
    parameters: byId,
    body: {},
    args: (id: string) => [undefined, { id }],
    run: (handle, { id }) => {
      const { reference_id, user_id } = findPending(handle, id);
      return save(handle, { reference_id, user_id, state: 'failed' }, 'failed');
    },
  }),
};

const shownDeposit = ({ session }: WorldHandle, sandbox: Sandbox, deposit: Deposit): DepositNow =>
  depositNow(sandbox.world, deposit, timeIn(session, sandbox));

function findDeposit({ world }: Sandbox, id: string): Deposit {
  const deposit = lookUp(world.deposits, id.toLowerCase());
  if (deposit !== undefined) return deposit;
  throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
}

function findPending(handle: WorldHandle, id: string): Deposit {
  const deposit = findDeposit(handle.open(), id);
  const { state } = shownDeposit(handle, handle.open(), deposit);
  if (state === 'pending') return deposit;
  throw new Refusal(409, `the deposit is ${state}, which is final; a reset restores it`, { state });
}

function save(handle: WorldHandle, deposit: Deposit, what: string): DepositNow {
  const sandbox = handle.open();
  sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
  emitChange(handle.session, sandbox, `deposit ${deposit.reference_id} ${what}`);
  return shownDeposit(handle, sandbox, deposit);
}

function addDeposit(handle: WorldHandle, given: FixtureDeposit): DepositNow {
  const { session, open } = handle;
  // The check of the format needs a user. Whether the world has the user is checked below.
  const user_id = String((given as Partial<FixtureDeposit> | null | undefined)?.user_id);
  const someUser = { user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' };
  const users = isValidId('user-status', user_id) ? [someUser] : [];
  const deposit = readItem(session, 'deposits', given, users);
  const { reference_id } = deposit;
  const { world } = open();
  if (lookUp(world.users, user_id.toLowerCase()) === undefined)
    throw badRequest('user_id', `${user_id} is not a known user; POST /__admin/users adds one`);
  if (lookUp(world.deposits, reference_id.toLowerCase()) !== undefined)
    throw new Refusal(409, `the deposit ${reference_id} exists already`, { place: 'reference_id' });
  return save(handle, { ...deposit, since: timeIn(session, open()) - world.createdAt }, 'added');
}
