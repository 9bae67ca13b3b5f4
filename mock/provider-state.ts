import { badRequest } from './session.ts';
import { lookUp, type World } from './world.ts';

type Params = Readonly<Record<string, unknown>>;

/** Sets a state up, or restores the fixture. */
type ProviderState = (world: World, params: Params, isSetup: boolean) => void;

/** Provider states by name, as in Pact. */
const states: Readonly<Record<string, ProviderState>> = {
  'key revoked': ({ keys }, params, isSetup) => {
    const key = lookUp(keys, textOf(params['key']));
    if (key === undefined) throw badRequest('params', 'need a key of the fixture');
    keys.changed.set(key.key, isSetup ? { ...key, state: 'revoked' } : (keys.base.get(key.key) ?? key));
  },
  'deposit executed': ({ deposits }, params, isSetup) => {
    const { amountInUsd, executedAt } = params;
    const id = textOf(params['reference_id']).toLowerCase();
    const deposit = lookUp(deposits, id);
    if (isSetup && !(isAmount(amountInUsd) && isTime(executedAt)))
      throw badRequest(
        'params',
        'need the numbers amountInUsd (USD, 0 or more) and executedAt (Unix ms, whole)',
      );
    if (deposit === undefined)
      throw badRequest('params', 'need the reference_id of a deposit of the fixture');
    const { reference_id, user_id } = deposit;
    const execution = { amountInUsd: Number(amountInUsd), executedAt: Number(executedAt) };
    const executed = { reference_id, user_id, state: 'EXECUTED', ...execution } as const;
    deposits.changed.set(id, isSetup ? executed : (deposits.base.get(id) ?? deposit));
  },
};

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const isAmount = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;
const isTime = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as Params;

/**
 * Sets up or tears down a state of the world.
 *
 * @param body `{ "state": name, "params": { … }, "action": "setup" or "teardown" }`
 * @throws Refusal with 400 for a wrong body
 */
export function applyProviderState(world: World, body: unknown): void {
  const { state, params, action = 'setup' } = objectOf(body);
  const change = Object.hasOwn(states, textOf(state)) ? states[textOf(state)] : undefined;
  if (change === undefined) throw badRequest('state', `must be one of: ${Object.keys(states).join(', ')}`);
  if (action !== 'setup' && action !== 'teardown') throw badRequest('action', 'must be setup or teardown');
  change(world, objectOf(params), action === 'setup');
}
