import type { FindingKind, HttpRequest } from '../exchange.ts';
import {
  lookUp,
  valuesOf,
  type ApiKey,
  type Deposit,
  type Execution,
  type Overlay,
  type World,
} from '../world.ts';
import { answers, both, define, failing, idsIn, noServerErrors, type Faults } from './define.ts';
import { answerWith, cached, editPayload, editResponse, type Difference, type Filter } from './edits.ts';

/** A change of the data during a run, as one request may see it. */
interface DataChange {
  readonly of: 'key' | 'deposit';
  readonly request: HttpRequest;
  readonly world: World;
  /** Ms since a request could first see it. */
  readonly ageMs: number;
  /** Number of earlier requests that could see it. */
  readonly nth: number;
}

type Sees = (change: DataChange) => boolean;

/** Limits which changes of the data, by the admin API or a state hook, a request sees. */
export const seesChanges =
  (sees: Sees): Difference =>
  () => {
    const first = new Map<unknown, { readonly at: number; nth: number }>();
    return {
      seen: (world, request, now) => {
        const visible = <Value>(of: DataChange['of'], { base, changed }: Overlay<Value>): Overlay<Value> => {
          const entries = [...changed].filter(([id, value]) => {
            if (base.get(id) === value) return true;
            const known = first.get(value) ?? { at: now, nth: 0 };
            first.set(value, known);
            return sees({ of, request, world, ageMs: now - known.at, nth: known.nth++ });
          });
          return { base, changed: new Map(entries) };
        };
        if (world.keys.changed.size === 0 && world.deposits.changed.size === 0) return world;
        return {
          ...world,
          keys: visible<ApiKey>('key', world.keys),
          deposits: visible<Deposit>('deposit', world.deposits),
        };
      },
    };
  };

const ofKeys = {
  id: 'revoked-key',
  what: 'A key that is revoked during the run',
  change: (sees: Sees) => seesChanges((change) => change.of !== 'key' || sees(change)),
};

const ofDeposits = {
  id: 'executed-deposit',
  what: 'A deposit that becomes EXECUTED during the run',
  change: (sees: Sees) => seesChanges((change) => change.of !== 'deposit' || sees(change)),
};

const idOf = ({ target }: HttpRequest) => /_id=([^&]*)/.exec(target)?.[1]?.toLowerCase() ?? '';

/** Whether the request names a user or deposit that exists. */
const namesEntity: Sees = ({ request, world }) =>
  lookUp(world.users, idOf(request)) !== undefined || lookUp(world.deposits, idOf(request)) !== undefined;

/** Exchanges with a key that was revoked after the start. */
const hasRevokedKey: Filter = {
  where: ({ call, world }) =>
    call?.key?.state === 'revoked' && world.keys.base.get(call.key.key)?.state === 'active',
};

/** Revoking one key revokes others. */
const alsoRevokes = (isHit: (one: ApiKey, revoked: ApiKey) => boolean): Difference => ({
  findKey: (world, credential) => {
    const key = credential === undefined ? undefined : lookUp(world.keys, credential);
    const revoked = [...world.keys.changed.values()].find(
      (one) => one.state === 'revoked' && world.keys.base.get(one.key)?.state === 'active',
    );
    const isRevoked = key?.state === 'active' && revoked !== undefined && isHit(key, revoked);
    return key && (isRevoked ? { ...key, state: 'revoked' } : key);
  },
});

const isNewlyExecuted = ({ deposits }: World, { reference_id }: Deposit): boolean => {
  const id = reference_id.toLowerCase();
  return deposits.base.get(id)?.state === 'pending' && lookUp(deposits, id)?.state === 'EXECUTED';
};

const bodyOf = ({ amountInUsd, executedAt }: Execution) =>
  JSON.stringify({ status: 'EXECUTED', amountInUsd, executedAt });

/** Shows a newly executed deposit in answers of a kind. */
const shownInstead = (kind: FindingKind): Difference =>
  editResponse((response, { request, world }) => {
    const deposit = lookUp(world.deposits, idOf(request));
    if (deposit?.state !== 'EXECUTED' || !isNewlyExecuted(world, deposit)) return response;
    return { status: 200, body: bodyOf(deposit) };
  })({ kinds: [kind] });

/** Shows pending deposits, once another one has become EXECUTED. */
const shownWithAnother: Difference = editResponse((response, { request, world }) => {
  const asked = lookUp(world.deposits, idOf(request));
  const isStaying = asked?.state === 'pending' && asked.becomes === undefined;
  const changed = [...world.deposits.changed.values()].find((one) => isNewlyExecuted(world, one));
  return isStaying && changed?.state === 'EXECUTED' ? { status: 200, body: bodyOf(changed) } : response;
})({ kinds: ['notYet'] });

const secondWithoutAmount: Difference = (from) => {
  let shown = 0;
  return editPayload((payload, { finding, world }) =>
    finding.kind === 'executed' && isNewlyExecuted(world, finding.deposit) && ++shown === 2
      ? { ...payload, amountInUsd: 0 }
      : payload,
  )()(from);
};

const revoked = answers('revoked-key', 'A key that is revoked during the run', hasRevokedKey);
const revocation = idsIn('auth', both, 'revocation');

/** Wrong answers after a change of the data (Authentication; States). */
export const changeFaults: Faults = {
  ...define(ofKeys, revocation, {
    'accepted-by-two-of-three-nodes: is refused by one of three nodes only': ({ nth }) => nth % 3 === 0,
    'reads-known-ids: is refused for unknown ids only': (change) => !namesEntity(change),
    'reads-capitals: is accepted if the id has a capital letter': ({ request }) =>
      !/_id=[^&]*[A-F]/.test(request.target),
    'reads-encoded: is accepted if the id is percent-encoded': ({ request }) => !request.target.includes('%'),
    'reads-with-second-parameter: is accepted if the query has a second parameter': ({ request }) =>
      !request.target.includes('&'),
    'accepted-after-bearer: is accepted after the scheme `bearer` in lower case': ({ request }) =>
      request.headers.authorization?.startsWith('bearer ') !== true,
  }),
  ...define(revoked, revocation, {
    'with-403: gets 403': answerWith(403, { error: 'Forbidden' }),
    'in-other-words: gets 401 with another message': answerWith(401, { error: 'Key revoked' }),
  }),
  ...failing(revocation, {
    'revoked-key-reads-again: A key that is revoked during the run still gets the answers that it got before':
      cached(Infinity, ['member', 'executed'], ['unauthorized']),
  }),
  ...define(revoked, [...revocation, noServerErrors], {
    'with-500: gets 500': answerWith(500, { error: 'Internal server error' }),
  }),
  ...failing(idsIn('auth', both, 'revocation-spares'), {
    'revoked-key-takes-others-along: Revoking a key revokes the other keys of its partner': alsoRevokes(
      (one, { partner }) => one.partner === partner,
    ),
  }),
  ...failing(idsIn('auth', both, 'revocation', 'revocation-spares'), {
    'revoked-key-takes-all-along: Revoking a key revokes all keys': alsoRevokes(() => true),
  }),
  ...define(ofDeposits, ['pending/deposit-check/becomes-executed'], {
    'unknown-to-one-of-three-nodes: is unknown to one of three nodes': ({ nth }) => nth % 3 !== 2,
    'lost-after-two-seconds: is not found again after 2 s': ({ ageMs }) => ageMs < 2000,
    'unknown-to-second-key: is unknown to all keys but the first': ({ request, world }) =>
      request.headers.authorization?.endsWith(` ${valuesOf(world.keys)[0]?.key}`) === true,
  }),
  ...failing(['pending/deposit-check/becomes-executed'], {
    'executed-deposit-second-without-amount: The second answer about a deposit that becomes EXECUTED during the run has the amount 0':
      secondWithoutAmount,
  }),
  ...failing(['foreign-ib/deposit-check/follows-key'], {
    'executed-deposit-shown-to-all: A deposit that becomes EXECUTED during the run is shown to every partner':
      shownInstead('foreign'),
  }),
  ...failing(['pending/deposit-check/pending'], {
    'executed-deposit-takes-others-along: While a deposit is EXECUTED that was pending, other pending ones are shown too':
      shownWithAnother,
  }),
  ...failing(['auth/deposit-check/missing'], {
    'executed-deposit-shown-without-key: A deposit that becomes EXECUTED during the run is shown without a key':
      shownInstead('unauthorized'),
  }),
};
