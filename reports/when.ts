import type { Intermittent, RequirementResult } from '../schemas/generated/types.ts';
import { count } from './text.ts';

/** How a list of levels begins, and the levels that it fits, in words if they need others. */
interface Phrase {
  readonly start: string;
  readonly levels: Readonly<Record<string, string>>;
}

const same = (...levels: readonly string[]) => Object.fromEntries(levels.map((level) => [level, level]));

/** Phrases by factor. Levels that none fits are named as they are: `query is other than alone`. */
const phrases: Readonly<Record<string, readonly Phrase[]>> = {
  key: [
    {
      start: 'the key is',
      levels: { ...same("another partner's", 'expired', 'revoked', 'unknown'), 'near miss': 'almost right' },
    },
    { start: 'there is', levels: { none: 'no key' } },
  ],
  header: [
    {
      start: 'the key is sent',
      levels: same('in a cookie', 'in another header', 'in the body', 'in the query'),
    },
    {
      start: 'the Authorization field has',
      levels: {
        ...same('another scheme', 'extra spaces', 'no scheme', 'no token', 'two parts'),
        bearer: 'the scheme "bearer"',
        BEARER: 'the scheme "BEARER"',
      },
    },
  ],
  'id spelling': [
    { start: 'the id is in', levels: same('lower case', 'upper case', 'mixed case') },
    { start: 'the id is', levels: same('percent-encoded') },
  ],
  'id version': [{ start: 'the UUID has version', levels: same(...'12345678') }],
  'active key': [{ start: 'the active key is', levels: { second: 'the second one' } }],
  query: [
    {
      start: 'the query has',
      levels: {
        'extra parameter before': 'an extra parameter before',
        'extra parameter after': 'an extra parameter after',
      },
    },
    { start: 'the query has', levels: { alone: 'nothing but the id' } },
  ],
  fields: [
    {
      start: 'the request has',
      levels: {
        'names capitalized': 'capitalized field names',
        'names in upper case': 'field names in upper case',
        'those of a browser': 'the header fields of a browser',
      },
    },
  ],
  repetition: [{ start: 'the same lookup is sent', levels: same('three times') }],
  load: [{ start: 'nothing else is', levels: { alone: 'in flight' } }],
};

const dataOfDeposits = {
  'whole amount': 'a whole amount',
  'amount with cents': 'an amount with cents',
  'amount below 1': 'an amount below 1',
  'amount of 10000 or more': 'an amount of 10000 or more',
};
const dataOfUsers = { milliseconds: 'a date with milliseconds', 'whole seconds': 'a date in whole seconds' };

/** Conditions that are shorter in words of their own. */
const sentences: Readonly<Record<string, string>> = {
  'id spelling: upper case or mixed case': 'the id has upper-case letters',
  'query: extra parameter before or extra parameter after': 'the query has an extra parameter',
};

/** More levels than this are not listed in a short report. */
const MAX_LEVELS = 3;
const NAMED_LEVELS = 2;

/** Names of levels that have "or" in them. */
const namesWithOr = 'more|after|parentheses|filler for a digit|the form of one|a strange name';

/** Splits the levels of one factor. */
const levelsOf = (text: string) => text.split(new RegExp(` or (?!(?:${namesWithOr})(?: or |$))`));

/**
 * Says in words when a requirement fails: `the id is in upper case and the deposit is another IB's`. Undefined if no
 * condition was found.
 *
 * @param isShort whether to cut long lists of levels
 */
export function conditionOf(result: RequirementResult, isShort = false): string | undefined {
  if (result.outcome !== 'failed' || result.where === undefined || result.where.length === 0)
    return undefined;
  return joined(
    result.where.map((condition) => conditionWords(condition, result.id, isShort)),
    ' and ',
  );
}

/** @param id of the requirement, which says what a situation is about */
function conditionWords(condition: string, id: string, isShort: boolean): string {
  const sentence = Object.hasOwn(sentences, condition) ? sentences[condition] : undefined;
  if (sentence !== undefined) return sentence;
  const [, factor = '', text = ''] = /^([^:]+): (.*)$/s.exec(condition) ?? [];
  if (factor === '') return `the lookup is for ${condition}`;
  const [start, ...levels] = startAndLevels(factor, levelsOf(text), id);
  return isShort && levels.length > MAX_LEVELS
    ? `${start} ${joined([...levels.slice(0, NAMED_LEVELS), `one of ${levels.length - NAMED_LEVELS} more`], ' or ')}`
    : `${start} ${joined(levels, ' or ')}`;
}

/** How the condition begins, and its levels in words. */
function startAndLevels(
  factor: string,
  levels: readonly string[],
  id: string,
): readonly [string, ...string[]] {
  const isDeposit = /^[^/]*\/deposit-check\//.test(id) || levels.some((level) => STATE.test(level));
  const what = isDeposit ? 'the deposit' : 'the user';
  if (factor === 'situation' && !levels.some((level) => level.startsWith('other than ')))
    return [`${what} is`, ...ownersOf(levels)];
  if (factor === 'malformation' && !levels.includes('none'))
    return ['the form of the id is', ...levels.map((level) => `"${level}"`)];
  if (factor === 'fields' && levels.every((level) => level.includes(': ')))
    return ['the request has', ...levels];
  const data = { start: `${what} has`, levels: isDeposit ? dataOfDeposits : dataOfUsers };
  const fitting = (factor === 'data' ? [data] : (phrases[factor] ?? [])).find((one) =>
    levels.every((level) => Object.hasOwn(one.levels, level)),
  );
  return fitting === undefined
    ? [`${factor} is`, ...levels]
    : [fitting.start, ...levels.map((level) => (fitting.levels as Phrase['levels'])[level]!)];
}

const STATES = ['EXECUTED', 'pending', 'failed'];
const STATE = / (EXECUTED|pending|failed)$/;

const owners: Readonly<Record<string, string>> = {
  own: "the caller's",
  'own user': "the caller's",
  "another partner's": "another IB's",
  "third partner's": "a third IB's",
  'no partner': "no IB's",
};

/** Situations by owner: `another IB's`, or `another IB's (pending or failed)`. */
function ownersOf(levels: readonly string[]): readonly string[] {
  const states = new Map<string, string[]>();
  for (const level of levels) {
    const owner = level.replace(STATE, '');
    const state = STATE.exec(level)?.[1];
    states.set(owner, [...(states.get(owner) ?? []), ...(state === undefined ? [] : [state])]);
  }
  return [...states].map(([owner, some]) => {
    const words = owners[owner] ?? owner;
    if (some.length === 0 || STATES.every((state) => some.includes(state))) return words;
    return some.length === 1 && states.size === 1
      ? `${words} and ${some[0]}`
      : `${words} (${joined(some, ' or ')})`;
  });
}

const joined = (parts: readonly string[], last: string): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}${last}${parts.at(-1)}`;

/** `6 of 6 such lookups failed; when it is not so that the id is in upper case, 0 of 7` */
export function triedWords(result: RequirementResult): string | undefined {
  if (result.outcome !== 'failed' || result.separation === undefined) return undefined;
  const { with: having, without = [] } = result.separation;
  const isOnly = without.length === 1 && result.where?.length === 1;
  const parts = [
    ...(having === undefined ? [] : [`${count(having.failed)} of ${count(having.of)} new lookups failed`]),
    ...without.map(
      ({ condition, failed, of }) =>
        `${isOnly ? 'otherwise' : `if not ${factorOf(condition)}`} ${count(failed)} of ${count(of)}`,
    ),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** The factor of a condition with its first level: a long list of levels is in the condition itself. */
function factorOf(condition: string): string {
  const [, factor, text = ''] = /^([^:]+): (.*)$/s.exec(condition) ?? [];
  const levels = levelsOf(text);
  return factor === undefined || levels.length <= MAX_LEVELS ? condition : `these levels of ${factor}`;
}

/** `3 of 11 equal lookups failed` */
export const failureRate = ({ failed, of }: Intermittent): string =>
  `${count(failed)} of ${count(of)} equal lookups failed`;
