import { lookIn, type ApiKey, type Deposit, type World } from './world.ts';

type Params = Readonly<Record<string, unknown>>;

interface ProviderState {
  /** Brings the state about; says what is wrong where it cannot. */
  readonly setup: (world: World, params: Params) => string | undefined;
  /** Takes it back: as the fixture has it. */
  readonly teardown: (world: World, params: Params) => string | undefined;
}

/** The states by name, as in Pact's provider states. */
const states: Readonly<Record<string, ProviderState>> = {
  'key revoked': {
    setup: (world, params) => changeKey(world, params, (key) => ({ ...key, state: 'revoked' })),
    teardown: (world, params) => changeKey(world, params, (key) => world.asFixture.keys.get(key.key) ?? key),
  },
  'deposit executed': {
    setup: (world, params) => {
      const { amountInUsd, executedAt } = params;
      if (!isAmount(amountInUsd) || !isTime(executedAt))
        return 'params need the numbers amountInUsd (USD, 0 or more) and executedAt (Unix ms, whole)';
      return changeDeposit(world, params, (deposit) => ({
        reference_id: deposit.reference_id,
        user_id: deposit.user_id,
        partner: deposit.partner,
        state: 'EXECUTED',
        amountInUsd,
        executedAt,
      }));
    },
    teardown: (world, params) =>
      changeDeposit(world, params, (deposit, id) => world.asFixture.deposits.get(id) ?? deposit),
  },
};

const isAmount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function changeKey(world: World, { key }: Params, change: (key: ApiKey) => ApiKey): string | undefined {
  const known = typeof key === 'string' ? lookIn(world.keys, key) : undefined;
  if (known === undefined) return 'params need a key that the fixture has';
  world.keys.changed.set(known.key, change(known));
  return undefined;
}

function changeDeposit(
  world: World,
  { reference_id }: Params,
  change: (deposit: Deposit, id: string) => Deposit,
): string | undefined {
  const id = typeof reference_id === 'string' ? reference_id.toLowerCase() : '';
  const known = lookIn(world.deposits, id);
  if (known === undefined) return 'params need the reference_id of a deposit that the fixture has';
  world.deposits.changed.set(id, change(known, id));
  return undefined;
}

/**
 * Brings about or takes back a state of the world.
 *
 * @param body `{ "state": name, "params": { … }, "action": "setup" or "teardown" }`
 * @returns what is wrong with the body; undefined where it was done
 */
export function changeState(world: World, body: unknown): string | undefined {
  const {
    state,
    params,
    action = 'setup',
  } = (typeof body === 'object' && body !== null ? body : {}) as Params;
  const found = typeof state === 'string' && Object.hasOwn(states, state) ? states[state] : undefined;
  if (found === undefined) return `state has to be one of: ${Object.keys(states).join(', ')}`;
  if (action !== 'setup' && action !== 'teardown') return 'action has to be setup or teardown';
  return found[action](world, (typeof params === 'object' && params !== null ? params : {}) as Params);
}
