import type { FixtureDeposit } from '../../schemas/generated/types.ts';
import { isValidId } from '../behaviour.ts';
import { Refusal, badRequest, emitChange, timeIn, type Place, type Sandbox } from '../session.ts';
import { depositNow, lookUp, valuesOf, type Deposit, type DepositNow } from '../world.ts';
import { listOf, readItem } from './data.ts';
import { integer, number, oneOf, required, text, type ValuesOf } from './fields.ts';
import { operation, whole } from './operation.ts';

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
    (place) => (deposit: Deposit) => shownDeposit(place, place.peek(), deposit),
    oneOf(['EXECUTED', 'pending', 'failed'], { description: 'only deposits in this state' }),
  ),
  get: operation('GET /deposits/{id}', 'One deposit.', {
    result: 'shownDeposit',
    parameters: byId,
    args: (id: string) => [undefined, { id }],
    run: (place, { id }) => shownDeposit(place, place.peek(), findDeposit(place.peek(), id)),
  }),
  add: operation(
    'POST /deposits',
    'Adds a deposit in the format of the fixture; afterSeconds counts from now.',
    {
      result: 'shownDeposit',
      body: whole<FixtureDeposit>('deposit'),
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
      run: (place, { id, ...given }) => {
        const { reference_id, user_id, ...deposit } = findPending(place, id);
        const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
        const amountInUsd = given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT;
        const at = given.executedAt ?? planned?.executedAt ?? timeIn(place.session, place.open());
        const executedAt = Math.trunc(at);
        const executed = { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt } as const;
        return save(place, executed, 'executed');
      },
    },
  ),
  fail: operation('POST /deposits/{id}/fail', 'Makes a pending deposit fail; 409 if its state is final.', {
    result: 'shownDeposit',
    parameters: byId,
    body: {},
    args: (id: string) => [undefined, { id }],
    run: (place, { id }) => {
      const { reference_id, user_id } = findPending(place, id);
      return save(place, { reference_id, user_id, state: 'failed' }, 'failed');
    },
  }),
};

const shownDeposit = ({ session }: Place, sandbox: Sandbox, deposit: Deposit): DepositNow =>
  depositNow(sandbox.world, deposit, timeIn(session, sandbox));

function findDeposit({ world }: Sandbox, id: string): Deposit {
  const deposit = lookUp(world.deposits, id.toLowerCase());
  if (deposit !== undefined) return deposit;
  throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
}

function findPending(place: Place, id: string): Deposit {
  const deposit = findDeposit(place.open(), id);
  const { state } = shownDeposit(place, place.open(), deposit);
  if (state === 'pending') return deposit;
  throw new Refusal(409, `the deposit is ${state}, which is final; a reset restores it`, { state });
}

function save(place: Place, deposit: Deposit, what: string): DepositNow {
  const sandbox = place.open();
  sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
  emitChange(place.session, sandbox, `deposit ${deposit.reference_id} ${what}`);
  return shownDeposit(place, sandbox, deposit);
}

function addDeposit(place: Place, given: FixtureDeposit): DepositNow {
  const { session, open } = place;
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
  return save(place, { ...deposit, since: timeIn(session, open()) - world.createdAt }, 'added');
}
