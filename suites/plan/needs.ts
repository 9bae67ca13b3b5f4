import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Gap } from '../../schemas/generated/types.ts';
import { catalogue, table } from '../requirements/catalogue.ts';
import { oncePer } from '../../schemas/values.ts';
import type { Facts } from '../rules/facts.ts';
import { knownFrom, type Known } from '../known.ts';
import { factors, plainLevels } from './factors.ts';
import { factsWith } from './lookup.ts';
import { isFeasible } from './lookup-levels.ts';
import { versions, type Need } from './levels.ts';
import type { Choice, FactorName, Levels, LookupRow, Requirement } from '../rules/requirement.ts';
import type { Reason } from '../rules/verdict.ts';

/** Why a requirement cannot be judged, and how to fix it. */
type Lack = Omit<Gap, 'requirements'> & { readonly reason: Reason | 'no-state-hook' };

const noHook: Lack = {
  reason: 'no-state-hook',
  words: 'no state hook was given (--state-url), so no key or deposit can change during the run',
  fix: 'Give --state-url, a URL that changes data of the target on request.',
};

const noTransition: Lack = {
  reason: 'no-state-hook',
  words: 'no state hook was given (--state-url), and the fixture has no deposit of the IB with "becomes"',
  fix: 'Give --state-url. If pending deposits become EXECUTED by themselves on your server, add one to deposits, such as { "reference_id": "…", "user_id": "…", "state": "pending", "becomes": { "state": "EXECUTED", "amountInUsd": 10, "afterSeconds": 5 } } of a user of the IB',
};

/** @throws Error for a scenario that names an unknown level: a bug of ours */
export function checkLevels(rows: readonly Requirement[]): void {
  for (const row of rows)
    for (const [endpoint, levels] of (row.kind === 'scenario' && row.needs) || [])
      for (const [name, level] of Object.entries(levels))
        if (!factors[endpoint].some((one) => one.name === name && one.names.includes(level)))
          throw new Error(`${row.id} names an unknown level: ${name}: ${level}`);
}

checkLevels(catalogue);

/** Partners by what their users are in a situation. */
const partners = { own: 'own', "another partner's": 'other', "third partner's": 'third', 'no partner': null };

/** A fixture with an entity of each kind and version: it allows every choice that can be sent. */
function completeFixture(): Known {
  const anId = (nth: number, version = '4') =>
    `abcdef00-0000-${version}000-8000-${String(nth).padStart(12, '0')}`;
  const users = Object.values(partners).map((partner, nth) => ({
    user_id: anId(nth),
    partner,
    date_joined: '2024-02-29T23:59:59.999Z',
  }));
  const deposits = users.flatMap(({ user_id }, nth) =>
    versions.flatMap((version) => [
      {
        reference_id: anId(3 * nth, version),
        user_id,
        state: 'EXECUTED' as const,
        amountInUsd: 250.5,
        executedAt: 1_705_314_600_000,
      },
      { reference_id: anId(3 * nth + 1, version), user_id, state: 'pending' as const },
      { reference_id: anId(3 * nth + 2, version), user_id, state: 'failed' as const },
    ]),
  );
  const apiKeys = [
    { key: 'key-of-ours', partner: 'own', state: 'active' },
    { key: 'second-of-ours', partner: 'own', state: 'active' },
    { key: 'revoked-one', partner: 'own', state: 'revoked' },
    { key: 'expired-one', partner: 'own', state: 'expired' },
    { key: 'key-of-another', partner: 'other', state: 'active' },
    { key: 'key-of-a-user', partner: null, state: 'active' },
  ] as const;
  return knownFrom({ apiKeys: [...apiKeys], users, deposits }, 'own');
}

/** Factors that decide the answer. The situation comes first: a requirement about it gets the plain key. */
const deciding: readonly FactorName[] = [
  ...(['situation', 'key', 'header', 'id version', 'id spelling', 'query', 'malformation'] as const),
];

/** Levels that decide the answer, at most two of them not plain, and the facts of a lookup with them. */
function* fewLevels(endpoint: Endpoint): Generator<readonly [Partial<Levels>, Facts]> {
  const complete = completeFixture();
  const factsOf = (levels: Partial<Levels>) =>
    factsWith(endpoint, { ...plainLevels(endpoint), ...levels }, complete);
  const odd = deciding.flatMap((name) => {
    const { names, levels } = factors[endpoint].find((one) => one.name === name)!;
    const kinds = names.map((level) => `${factsOf({ [name]: level })?.kind} ${levels[level]!.need?.words}`);
    // Of levels that need the same and make the same of a lookup, one is enough, but with another key.
    return names
      .filter((_, at) => at > 0 && (name === 'situation' || kinds.indexOf(kinds[at]!) === at))
      .map((level) => [name, level] as const);
  });
  const choices: readonly Partial<Levels>[] = [
    {},
    ...odd.map(([name, level]) => ({ [name]: level })),
    ...odd.flatMap(([name, level], at) =>
      odd
        .slice(at + 1)
        .flatMap(([other, second]) => (other === name ? [] : [{ [name]: level, [other]: second }])),
    ),
  ];
  for (const levels of choices) {
    const facts = factsOf(levels);
    if (facts !== undefined) yield [levels, facts];
  }
}

let choices: ReadonlyMap<LookupRow, readonly Choice[]> | undefined;

/** For each row, levels of the lookups that it is about. Those with the fewest levels that are not plain come first. */
export function choicesOf(row: LookupRow): readonly Choice[] {
  if (choices === undefined) {
    const found = new Map<LookupRow, Choice[]>();
    for (const endpoint of endpointNames)
      for (const [levels, facts] of fewLevels(endpoint))
        for (const one of table.coverOf(facts).rows) {
          const list = found.get(one) ?? [];
          found.set(one, list);
          list.push([endpoint, levels]);
        }
    choices = found;
  }
  return choices.get(row) ?? [];
}

/** Whether a requirement may fail by an answer of an endpoint. */
export function isAbout(row: Requirement, endpoint: Endpoint): boolean {
  if (row.kind === 'monitor') return true;
  if (row.kind === 'scenario') return row.endpoint === endpoint || row.endpoint === 'service';
  return choicesOf(row).some(([on]) => on === endpoint);
}

/** Without other pending deposits, the first poll of those that become EXECUTED is the lookup of a pending one. */
const withPolls = oncePer((known: Known): Known => {
  const polled = known.becoming.filter(({ becomes }) => (becomes.afterPolls ?? 2) > 1);
  if (known.pending.length > 0 || polled.length === 0) return known;
  const pending = polled.map(({ becomes: _, ...deposit }) => deposit);
  const depositById = new Map(known.depositById);
  for (const one of pending) depositById.set(one.reference_id.toLowerCase(), one);
  return { ...known, pending, depositById };
});

/** Whether the fixture has what a lookup with these levels takes. The key and the situation always matter. */
const isPossible = ([endpoint, levels]: Choice, known: Known) =>
  isFeasible(endpoint, withPlainEntity(endpoint, levels), known);

const withPlainEntity = (endpoint: Endpoint, levels: Partial<Levels>): Partial<Levels> => {
  const { key, situation } = plainLevels(endpoint);
  return { key, situation, ...levels };
};

/** What a fixture lacks for these levels. */
function needOf([endpoint, given]: Choice, known: Known): Need {
  const levels = withPlainEntity(endpoint, given);
  const entries = Object.entries(levels) as [FactorName, string][];
  const levelOf = (name: FactorName) =>
    factors[endpoint].find((one) => one.name === name)!.levels[levels[name]!]!;
  const missing = entries.find(([name, level]) => !isFeasible(endpoint, { [name]: level }, known));
  if (missing !== undefined) return levelOf(missing[0]).need!;
  // Each level alone is there: only the letters of the id can be missing.
  const { words, fix } = levelOf('situation').need!;
  return { words: `${words} with two letters in its id`, fix };
}

/** Why a requirement cannot be judged with a fixture; undefined if it can. */
export function lackOf(row: Requirement, known: Known, hasStateHook = true): Lack | undefined {
  if (row.kind === 'monitor') return undefined;
  const change = row.kind === 'scenario' ? row.needsChange : undefined;
  const changesByItself = change === 'transition' && known.becoming.length > 0;
  if (change !== undefined && !hasStateHook && !changesByItself)
    return change === 'hook' ? noHook : noTransition;
  const noKey = !isFeasible('user-status', { key: 'active' }, known);
  const active: readonly Choice[] = [['user-status', { key: 'active', situation: 'unknown' }]];
  const own = row.kind === 'scenario' ? row.needs : choicesOf(row);
  const wanted = noKey || changesByItself ? active : (own ?? active);
  const [first] = wanted;
  if (first === undefined || wanted.some((choice) => isPossible(choice, withPolls(known)))) return undefined;
  const { words, fix, reason = 'no-fixture' } = needOf(first, known);
  return { reason, words: `the fixture has no ${words}`, fix };
}

/** The requirements that cannot be judged with this fixture, by reason. Sends no request. */
export function gapsOf(
  requirements: readonly Requirement[],
  known: Known,
  hasStateHook: boolean,
): readonly Gap[] {
  const gaps = new Map<string, Gap>();
  for (const requirement of requirements) {
    const lack = lackOf(requirement, known, hasStateHook);
    if (lack === undefined) continue;
    const others = gaps.get(lack.words)?.requirements ?? [];
    gaps.set(lack.words, { ...lack, requirements: [...others, requirement.id] });
  }
  return [...gaps.values()];
}
