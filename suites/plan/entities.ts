import { endpointNames, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import { oncePer } from '../../schemas/values.ts';
import { hasMixableLetters, classifyUuid } from '../inputs/uuids.ts';
import type { FixtureDeposit, Known } from '../known.ts';
import { readTimestamp } from '../rules/timestamp.ts';
import { dataLevels } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { spellingLevels } from './levels.ts';

/** Who writes a fixture by hand takes recent dates. Of older ones, a time zone may have had other rules. */
const RECENT = 2020;

/** Kinds of data that a fixture lacks although no level does: plain data, and old dates. Each entity is looked up. */
export function missingKinds(known: Known): readonly string[] {
  const isOld = ({ date_joined }: { readonly date_joined: string }) =>
    Number(date_joined.slice(0, 4)) < RECENT;
  return [
    ...endpointNames.flatMap((endpoint) => {
      const [plain] = dataLevels[endpoint];
      const isShown = ({ situation, data }: Pool) =>
        data === plain && !/ (?:pending|failed)$/.test(situation);
      return poolsOf(endpoint, known).some(isShown) ? [] : [`${endpoint}, data: ${plain}`];
    }),
    ...([...known.userById.values()].some(isOld) ? [] : [`user-status, data: date before ${RECENT}`]),
  ];
}

/** The entities of a fixture that have the same levels. */
interface Pool {
  readonly situation: string;
  readonly version: string;
  readonly data: string;
  readonly isLettered: boolean;
  readonly ids: readonly string[];
}

const pools = oncePer((known: Known) => ({
  'user-status': userPools(known),
  'deposit-check': depositPools(known),
}));

export const poolsOf = (endpoint: Endpoint, known: Known): readonly Pool[] => pools(known)[endpoint];

/** The levels of an entity of the fixture; undefined if nobody has the id. */
export function levelsOfId(endpoint: Endpoint, id: string, known: Known) {
  const pool = poolsOf(endpoint, known).find(({ ids }) => ids.includes(id));
  return pool && { situation: pool.situation, data: pool.data, 'id version': pool.version };
}

/** What is known, with a pending deposit for a state hook alone, if another one of the same kind stays. */
export const withSpare = oncePer((known: Known): Known => {
  if (known.spare !== undefined) return known;
  const pool = poolsOf('deposit-check', known).find(
    ({ situation, ids }) => situation === 'own pending' && ids.length > 1 && known.pending.length > 1,
  );
  const { pending, depositById } = known;
  const userOf = (id: string) => depositById.get(id.toLowerCase())?.user_id;
  // The other deposits of its user stay hidden: that shows best where there is one.
  const isOneOfTwo = (id: string) => pending.filter(({ user_id }) => user_id === userOf(id)).length > 1;
  const id = (pool?.ids.findLast(isOneOfTwo) ?? pool?.ids.at(-1))?.toLowerCase();
  const spare = known.pending.find(({ reference_id }) => reference_id.toLowerCase() === id);
  return spare === undefined
    ? known
    : { ...known, spare, pending: known.pending.filter((one) => one !== spare) };
});

function userPools(known: Known): readonly Pool[] {
  const [plain, whole] = dataLevels['user-status'] as [string, string];
  const entries = [...known.userById.values()].map((user) => ({
    id: user.user_id,
    situation: ownerOf(user.partner, known),
    data: /^0*$/.test(readTimestamp(user.date_joined).instant?.fraction ?? '') ? whole : plain,
  }));
  return grouped(entries);
}

function depositPools(known: Known): readonly Pool[] {
  // Deposits that become EXECUTED have their own requirement.
  const isStable = (deposit: FixtureDeposit) =>
    deposit !== known.spare && (deposit.state !== 'pending' || deposit.becomes === undefined);
  const entries = [...known.depositById.values()].filter(isStable).flatMap((deposit) => {
    const user = known.userById.get(deposit.user_id.toLowerCase());
    if (user === undefined) return [];
    const owner = ownerOf(user.partner, known);
    return {
      id: deposit.reference_id,
      situation: `${owner === 'no partner' ? "third partner's" : owner} ${deposit.state}`,
      data: dataOf(deposit),
    };
  });
  return grouped(entries);
}

function dataOf(deposit: FixtureDeposit): string {
  const [cents, whole, small, large] = dataLevels['deposit-check'] as [string, string, string, string];
  if (deposit.state !== 'EXECUTED') return cents;
  const { amountInUsd } = deposit;
  if (amountInUsd >= 10_000) return large;
  if (amountInUsd < 1) return small;
  return Number.isInteger(amountInUsd) ? whole : cents;
}

/** "another partner" is the first other one with an active key. */
function ownerOf(partner: string | null, { partner: caller, otherKeys }: Known): string {
  if (partner === null) return 'no partner';
  if (partner === caller) return 'own';
  return otherKeys.length === 0 || partner === otherKeys[0]!.partner
    ? "another partner's"
    : "third partner's";
}

function grouped(
  entries: readonly { readonly id: string; readonly situation: string; readonly data: string }[],
): readonly Pool[] {
  const groups = new Map<string, Pool & { readonly ids: string[] }>();
  for (const { id, situation, data } of entries) {
    const kind = classifyUuid(id);
    if (kind !== 'v4' && kind !== 'other-version') continue;
    const version = id[14]!;
    const isLettered = hasMixableLetters(id);
    const name = [situation, version, data, isLettered].join();
    const group = groups.get(name) ?? { situation, version, data, isLettered, ids: [] };
    group.ids.push(id.toLowerCase());
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Whether the entities of a pool have these levels. */
export function withLevels(endpoint: Endpoint, levels: Partial<Levels>): (pool: Pool) => boolean {
  const { situation, data, 'id version': version, 'id spelling': spelling } = levels;
  const needsLetters = spelling !== undefined && spellingLevels[spelling]!.needsLetters === true;
  return (pool) =>
    (situation === undefined || pool.situation === situation) &&
    (data === undefined || pool.data === data) &&
    (version === undefined || needsVersion4(endpoint) || pool.version === version) &&
    (pool.isLettered || !needsLetters);
}

/** The entities with these levels, in the order of the fixture. */
export function entitiesOf(endpoint: Endpoint, levels: Levels, known: Known) {
  const fitting = poolsOf(endpoint, known).filter(withLevels(endpoint, levels));
  return {
    count: fitting.reduce((sum, { ids }) => sum + ids.length, 0),
    at: (place: number): string => {
      let left = place;
      for (const { ids } of fitting) {
        if (left < ids.length) return ids[left]!;
        left -= ids.length;
      }
      throw new RangeError(`no entity ${place}`);
    },
  };
}
