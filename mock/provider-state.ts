import { lookIn, type World } from './world.ts';

type Params = Readonly<Record<string, unknown>>;

/** Brings a state about, or takes it back: as the fixture has it. Returns what is wrong where it cannot. */
type ProviderState = (world: World, params: Params, isSetup: boolean) => string | undefined;

/** The states by name, as in Pact's provider states. */
const states: Readonly<Record<string, ProviderState>> = {
  'key revoked': ({ keys }, params, isSetup) => {
    const key = lookIn(keys, textOf(params['key']));
    if (key === undefined) return 'params need a key that the fixture has';
    keys.changed.set(key.key, isSetup ? { ...key, state: 'revoked' } : (keys.base.get(key.key) ?? key));
    return undefined;
  },
  'deposit executed': ({ deposits }, params, isSetup) => {
    const { amountInUsd, executedAt } = params;
    const id = textOf(params['reference_id']).toLowerCase();
    const deposit = lookIn(deposits, id);
    if (isSetup && !(isAmount(amountInUsd) && isTime(executedAt)))
      return 'params need the numbers amountInUsd (USD, 0 or more) and executedAt (Unix ms, whole)';
    if (deposit === undefined) return 'params need the reference_id of a deposit that the fixture has';
    const { reference_id, user_id } = deposit;
    const execution = { amountInUsd: Number(amountInUsd), executedAt: Number(executedAt) };
    const executed = { reference_id, user_id, state: 'EXECUTED', ...execution } as const;
    deposits.changed.set(id, isSetup ? executed : (deposits.base.get(id) ?? deposit));
    return undefined;
  },
};

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const isAmount = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;
const isTime = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as Params;

/**
 * Brings about or takes back a state of the world.
 *
 * @param body `{ "state": name, "params": { … }, "action": "setup" or "teardown" }`
 * @returns what is wrong with the body; undefined where it was done
 */
export function changeState(world: World, body: unknown): string | undefined {
  const { state, params, action = 'setup' } = objectOf(body);
  const change = Object.hasOwn(states, textOf(state)) ? states[textOf(state)] : undefined;
  if (change === undefined) return `state must be one of: ${Object.keys(states).join(', ')}`;
  if (action !== 'setup' && action !== 'teardown') return 'action must be setup or teardown';
  return change(world, objectOf(params), action === 'setup');
}
