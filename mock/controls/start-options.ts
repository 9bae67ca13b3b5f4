import builtIn from '../../schemas/built-in.fixture.json' with { type: 'json' };
import { checkFixture } from '../../schemas/fixture.ts';
import type { Environment } from '../../schemas/fixture-keys.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import { reference } from '../behaviour.ts';
import { faults } from '../faults.ts';
import { clockModes, ranges, type MockData, type NamedOptions } from '../options.ts';
import { variants } from '../variants.ts';

/** What an option needs, in words, and the check of it. */
type Needed = readonly [words: string, has: (value: unknown) => boolean];

const ofType = (type: string): Needed => [`a ${type}`, (value) => typeof value === type];
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const object: Needed = ['an object', isObject];
const oneOf = (...words: readonly string[]): Needed => [
  words.join(' or '),
  (value) => words.includes(value as string),
];
const within = ([min, max]: readonly [number, number]): Needed => [
  `a whole number from ${min} to ${max}`,
  (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
];

/** All options of `startMock` and `createMock`, and of the command `sweep`. */
const known: Readonly<Record<string, Needed>> = {
  port: within(ranges.port),
  host: ofType('string'),
  fixture: ['a fixture', () => true],
  env: object,
  arePublicKeys: ofType('boolean'),
  basePath: ofType('string'),
  clock: [
    `${clockModes.join(', ')}, or an object with a function now`,
    (value) =>
      clockModes.includes(value as 'real') ||
      (isObject(value) && typeof (value as { now?: unknown }).now === 'function'),
  ],
  limits: oneOf('on', 'off'),
  fault: ofType('string'),
  variant: ofType('string'),
  behaviour: object,
  deviation: object,
  chaos: [
    'a list of strings such as ["500:0.1"]',
    (value) => Array.isArray(value) && value.every((spec) => typeof spec === 'string'),
  ],
  firstChaos: ofType('string'),
  chaosSeed: within(ranges.chaosSeed),
  journal: within(ranges.journal),
  onExchange: ofType('function'),
  admin: ['true, false or an object', (value) => typeof value === 'boolean' || isObject(value)],
  cors: ofType('boolean'),
};

/**
 * Checks the options of a mock, and replaces names by what they stand for.
 *
 * @throws Problem with code `usage` that names the option, or `fixture` for a wrong fixture
 */
export function resolveOptions<Given extends MockData & NamedOptions>(
  given: Given,
): Omit<Given, keyof NamedOptions> & { readonly env: Environment } {
  for (const [name, value] of Object.entries(given)) {
    const needed = Object.hasOwn(known, name) ? known[name] : undefined;
    if (needed === undefined)
      throw wrongUsage(`option ${name}: there is none${didYouMean(name, Object.keys(known))}`);
    if (value !== undefined && !needed[1](value)) throw wrongUsage(`option ${name}: needs ${needed[0]}`);
  }
  const { fault, variant, limits, env = process.env, ...options } = given;
  const own = options.fixture === undefined ? undefined : checkFixture(options.fixture, 'fixture', env);
  const change = variant === undefined ? undefined : deviationOf('variant', variant, 'option ').change;
  return {
    ...options,
    env,
    ...(own && { fixture: own }),
    ...(limits === 'off' && {
      fixture: withoutLimits(own ?? (builtIn as Fixture)),
      arePublicKeys: options.arePublicKeys ?? own === undefined,
    }),
    ...(change && { behaviour: change(options.behaviour ?? reference) }),
    ...(fault !== undefined && { deviation: deviationOf('fault', fault, 'option ') }),
  };
}

export const deviations: { readonly fault: typeof faults; readonly variant: typeof variants } = {
  fault: faults,
  variant: variants,
};

/**
 * Returns the fault or variant with an id.
 *
 * @throws Problem with code `usage`
 */
export function deviationOf(what: keyof typeof deviations, id: string, source: 'option ' | '--') {
  const all = deviations[what];
  const found = Object.hasOwn(all, id) ? all[id] : undefined;
  if (found !== undefined) return { id, change: found.change };
  const [others, list] = source === '--' ? [['list'], ` (--${what} list lists them)`] : [[], ''];
  const hint = didYouMean(id, [...others, ...Object.keys(all)]);
  throw wrongUsage(`${source}${what} ${id}: there is no such ${what}${hint}${list}`);
}

/** Returns a fixture without its limits. */
export function withoutLimits({ limits: _, apiKeys = [], ...fixture }: Fixture): Fixture {
  return { ...fixture, apiKeys: apiKeys.map(({ limits: __, ...apiKey }) => apiKey) };
}
