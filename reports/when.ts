import type { Intermittent, RequirementResult } from '../schemas/generated/types.ts';
import { grouped } from './similar.ts';
import { compact, count } from './text.ts';

/** How a condition on a factor begins, and levels that need other words. */
interface Phrase {
  readonly start: string;
  readonly levels?: Readonly<Record<string, string>>;
}

/** @param entity the user, or the deposit */
const phrases = (entity: string): Readonly<Record<string, Phrase>> => ({
  situation: { start: `${entity} is` },
  key: { start: 'the key is', levels: { 'near miss': 'almost right', none: 'missing' } },
  header: {
    start: 'the key is sent',
    levels: {
      Bearer: 'as usual',
      bearer: 'with the scheme "bearer"',
      BEARER: 'with the scheme "BEARER"',
      'extra spaces': 'with extra spaces',
      'no scheme': 'without a scheme',
      'another scheme': 'with another scheme',
      'two parts': 'in two parts',
      'no token': 'as a scheme only',
    },
  },
  malformation: { start: 'the form of the id is' },
  'id version': { start: 'the version of the id is' },
  'id spelling': {
    start: 'the id is',
    levels: { 'lower case': 'in lower case', 'upper case': 'in upper case', 'mixed case': 'in mixed case' },
  },
  data: {
    start: `${entity} has`,
    levels: {
      milliseconds: 'a date with milliseconds',
      'whole seconds': 'a date in whole seconds',
      'whole amount': 'a whole amount',
      'amount with cents': 'an amount with cents',
      'amount below 1': 'an amount below 1',
      'amount of 10000 or more': 'an amount of 10000 or more',
    },
  },
  'active key': { start: 'the active key is', levels: { first: 'the first one', second: 'the second one' } },
  query: {
    start: 'the query has',
    levels: {
      alone: 'just the id',
      'extra parameter before': 'an extra parameter before',
      'extra parameter after': 'an extra parameter after',
    },
  },
  fields: {
    start: 'the request has',
    levels: {
      'as usual': 'the usual fields',
      'names capitalized': 'capitalized field names',
      'names in upper case': 'field names in upper case',
      'those of a browser': 'the header fields of a browser',
    },
  },
  repetition: { start: 'the same lookup is sent' },
  load: { start: 'the lookup is in flight' },
  meanwhile: { start: 'at the same time,' },
});

/** Conditions that are shorter in words of their own. */
const sentences: Readonly<Record<string, string>> = {
  'id spelling: upper case or mixed case': 'the id has a capital letter',
  'id spelling: other than percent-encoded': 'the id is not percent-encoded',
  'query: other than name percent-encoded': 'the name of the parameter is not percent-encoded',
  'query: extra parameter before or extra parameter after': 'the query has an extra parameter',
  'malformation: other than none': 'the id is malformed',
};

/** More levels than this are not listed in a short report. */
const MAX_LEVELS = 3;
const NAMED_LEVELS = 2;
const OTHER = 'other than ';

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
  const [, factor, text = ''] = /^([^:]+): (.*)$/s.exec(condition) ?? [];
  const [, failed, of] = /^(\d+) of (\d+) keys or their forms$/.exec(condition) ?? [];
  if (failed !== undefined) return `it is one of ${failed} keys, or forms of a key, of ${of} (compare them)`;
  if (factor === undefined) return `the lookup is for ${condition}`;
  if (factor === 'value') return `the value ${text}`;
  const all = levelsOf(text);
  const isDeposit = id.includes('/deposit-check/') || all.some((level) => STATE.test(level));
  const entity = isDeposit ? 'the deposit' : 'the user';
  const { start = `${factor} is`, levels = {} }: Partial<Phrase> = phrases(entity)[factor] ?? {};
  const inWords = (level: string): string => {
    if (level.startsWith(OTHER)) return OTHER + inWords(level.slice(OTHER.length));
    return factor === 'malformation' ? `"${level}"` : Object.hasOwn(levels, level) ? levels[level]! : level;
  };
  const words = factor === 'situation' ? ownersOf(all) : all.map(inWords);
  const shown =
    isShort && words.length > MAX_LEVELS
      ? [...words.slice(0, NAMED_LEVELS), `one of ${words.length - NAMED_LEVELS} more`]
      : words;
  return `${start} ${joined(shown, ' or ')}`;
}

const STATES = ['EXECUTED', 'pending', 'failed'];
const STATE = / (EXECUTED|pending|failed)$/;

/** Owners that add up to one. */
const sums: readonly (readonly [readonly string[], string])[] = [
  [["another IB's", "a third IB's", "no IB's"], 'not a member'],
  [["another IB's", "a third IB's"], "another IB's"],
];

const owners: ReadonlyMap<string, string> = new Map([
  ["another partner's", "another IB's"],
  ["third partner's", "a third IB's"],
  ['no partner', "no IB's"],
  ['own', "the caller's"],
]);

const ownerWords = (owner: string): string =>
  owner.startsWith(OTHER) ? OTHER + ownerWords(owner.slice(OTHER.length)) : (owners.get(owner) ?? owner);

/** Situations by owner: `another IB's`, or `another IB's (pending or failed)`. */
function ownersOf(levels: readonly string[]): readonly string[] {
  const states = grouped(levels, (level) => ownerWords(level.replace(STATE, '')));
  const names = [...states.keys()];
  const isAnyState =
    levels.every((level) => !STATE.test(level)) || levels.length === states.size * STATES.length;
  const sum = sums.find(
    ([parts]) => parts.length === names.length && parts.every((one) => names.includes(one)),
  );
  if (sum !== undefined && isAnyState) return [sum[1]];
  return [...states].map(([owner, some]) => {
    const named = STATES.filter((state) => some.some((level) => level.endsWith(` ${state}`)));
    if (named.length === 0 || named.length === STATES.length) return owner;
    return named.length === 1 && states.size === 1
      ? `${owner} and ${named[0]}`
      : `${owner} (${joined(named, ' or ')})`;
  });
}

const joined = (parts: readonly string[], last: string): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}${last}${parts.at(-1)}`;

/** `6 of 6 new lookups failed; with another key 0 of 7`: how conditions were confirmed. */
export function triedWords(result: RequirementResult): string | undefined {
  if (result.outcome !== 'failed' || result.separation === undefined) return undefined;
  const { with: having, without = [] } = result.separation;
  const isOnly = without.length === 1 && result.where?.length === 1;
  const parts = compact(
    having && `${count(having.failed)} of ${count(having.of)} new lookups failed`,
    ...without.map(({ condition, failed, of }) => {
      const [factor, levels] = condition.split(': ');
      const start = isOnly ? 'otherwise' : levels === undefined ? 'with others' : `with another ${factor}`;
      return `${start} ${count(failed)} of ${count(of)}`;
    }),
  );
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** `3 of 11 equal lookups failed` */
export const failureRate = ({ failed, of }: Intermittent): string =>
  `${count(failed)} of ${count(of)} equal lookups failed`;
