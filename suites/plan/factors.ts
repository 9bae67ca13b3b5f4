import { perEndpoint, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import type { FactorName, Levels } from '../rules/requirement.ts';
import { headerLevels, keyLevels } from './credential-levels.ts';
import {
  depositSituations,
  fieldsLevels,
  malformationLevels,
  queryLevels,
  spellingLevels,
  userSituations,
  versionLevels,
  versions,
  type Level,
  type SituationLevel,
} from './levels.ts';

export interface Factor {
  readonly name: FactorName;
  /** By name. The first one is plain. */
  readonly levels: Readonly<Record<string, Level>>;
  /** The names of the levels. */
  readonly names: readonly string[];
  /** Whether a level that is not plain decides the answer and so masks the other factors. */
  readonly isGate: boolean;
  /** Whether levels other than the plain one take more requests, or more time. */
  readonly isCostly?: boolean;
  /** Whether the first request of every level also covers the plain level. */
  readonly includesPlain?: boolean;
}

/** Why a run sends a lookup: the first of a requirement, then each level, each pair of levels, and so on. */
export type Rank = 'requirement' | 'level' | 'pair' | 'example' | 'triple';

const factor = (
  name: FactorName,
  levels: Factor['levels'],
  more: Partial<Omit<Factor, 'name' | 'levels'>> = {},
): Factor => ({ name, levels, names: Object.keys(levels), isGate: false, ...more });

/** Levels without anything to know but their names. */
const named = (...names: readonly string[]): Factor['levels'] =>
  Object.fromEntries(names.map((name) => [name, {}]));

const situations = { 'user-status': userSituations, 'deposit-check': depositSituations } as const;

export const situationOf = (endpoint: Endpoint, name: string): SituationLevel => situations[endpoint][name]!;

/** Values that an entity may have. The plain one is first. */
export const dataLevels: Readonly<Record<Endpoint, readonly string[]>> = {
  'user-status': ['milliseconds', 'whole seconds'],
  'deposit-check': ['amount with cents', 'whole amount', 'amount below 1', 'amount of 10000 or more'],
};

const tableOf = (endpoint: Endpoint): readonly Factor[] => [
  factor('key', keyLevels, { isGate: true }),
  factor('header', headerLevels, { isGate: true }),
  factor('malformation', malformationLevels, { isGate: true }),
  factor('id version', versionLevels, {
    // As keys, digits would be sorted.
    names: versions,
    isGate: needsVersion4(endpoint),
  }),
  factor('situation', situations[endpoint]),
  factor('id spelling', spellingLevels),
  factor('data', named(...dataLevels[endpoint])),
  factor('active key', {
    first: {},
    second: { need: { ...keyLevels['active']!.need!, words: 'second active key of the partner' } },
  }),
  factor('query', queryLevels),
  factor('fields', fieldsLevels),
  factor('repetition', named('once', 'three times'), { isCostly: true, includesPlain: true }),
  factor('load', named('with others', 'alone'), { isCostly: true }),
];

/** The factors of each endpoint. */
export const factors = perEndpoint(tableOf);

/** The plain level of each factor. */
const plain = perEndpoint(
  (endpoint) => Object.fromEntries(factors[endpoint].map(({ name, names }) => [name, names[0]!])) as Levels,
);

export const plainLevels = (endpoint: Endpoint): Levels => plain[endpoint];

/** Whether the entity is all that differs from the plain row in what decides the answer. */
export const hasPlainGates = (endpoint: Endpoint, levels: Levels): boolean =>
  factors[endpoint].every(({ name, isGate, names }) => !isGate || levels[name] === names[0]);
