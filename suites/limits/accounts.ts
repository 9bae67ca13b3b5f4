import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Account, Asked, Scope } from './limit.ts';

/** Who has used how much of a limit, and whose requests count together: those of a key, as long as nothing else is known. */
export interface Accounts {
  readonly byName: Map<string, Account & { readonly asker: Asker }>;
  readonly scopes: Map<Endpoint, Scope>;
}

export const createAccounts = (scope?: Scope): Accounts => ({
  byName: new Map(),
  scopes: new Map(scope === undefined ? [] : endpointNames.map((endpoint) => [endpoint, scope])),
});

type Asker = Pick<Asked, 'endpoint' | 'key' | 'partner'>;

/** The account of an endpoint that a request uses. What has no accepted key has one of its own. */
export function accountIn({ byName, scopes }: Accounts, asker: Asker): Account {
  const name = nameOf(asker, scopes.get(asker.endpoint));
  const found = byName.get(name) ?? {
    asker,
    inFlight: [0, 0],
    counted: [],
    free: [],
    hasPassed: false,
    passed: 0,
    pause: undefined,
    enoughMs: undefined,
  };
  byName.set(name, found);
  return found;
}

function nameOf({ endpoint, key, partner }: Asker, scope: Scope = 'key'): string {
  if (key === '' || scope === 'key') return `${endpoint} ${key}`;
  return scope === 'partner' ? `${endpoint} of ${partner}` : `${endpoint} of all`;
}

/** What the keys of a partner have used at an endpoint, as long as it is not known whose limit it is; else the account. */
export function usedIn(
  { byName, scopes }: Accounts,
  { endpoint, partner }: Asker,
  account: Account,
  isLive: (at: number) => boolean = () => true,
): Pick<Account, 'counted' | 'inFlight'> {
  if (scopes.has(endpoint)) return account;
  const all = [...byName.values()].filter(
    ({ asker }) => asker.endpoint === endpoint && asker.key !== '' && asker.partner === partner,
  );
  const counted = all.flatMap((one) => one.counted.filter(isLive)).toSorted((a, b) => a - b);
  return { counted, inFlight: [0, all.reduce((sum, one) => sum + one.inFlight[1], 0)] };
}

/** From now on, requests of this scope count together. */
export function joinAccounts(accounts: Accounts, endpoint: Endpoint, scope: Scope): void {
  const { byName, scopes } = accounts;
  scopes.set(endpoint, scope);
  for (const [name, one] of byName) {
    if (one.asker.endpoint !== endpoint || nameOf(one.asker, scope) === name) continue;
    byName.delete(name);
    const all = accountIn(accounts, one.asker);
    all.inFlight[0] += one.inFlight[0];
    all.inFlight[1] += one.inFlight[1];
    all.counted = [...all.counted, ...one.counted].toSorted((a, b) => a - b);
    all.free = [...all.free, ...one.free].toSorted((a, b) => a - b);
    all.hasPassed ||= one.hasPassed;
    all.passed += one.passed;
    if ((one.pause?.until ?? 0) > (all.pause?.until ?? 0)) all.pause = one.pause;
    all.enoughMs ??= one.enoughMs;
  }
}
