import builtIn from '../../schemas/built-in.fixture.json' with { type: 'json' };
import { checkFixture, type Environment } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import type { Deviation } from '../deviations/deviate.ts';
import { reference, type Behaviour } from '../server/handler.ts';
import { faults } from '../deviations/faults.ts';
import { variants } from '../deviations/variants.ts';

/** Initial mode of the clocks: `real` runs, `frozen` stands still. */
export const clockModes = ['real', 'frozen'] as const;
export type ClockMode = (typeof clockModes)[number];

/** Default number of requests in a journal. */
export const JOURNAL_SIZE = 1000;

/** Allowed whole numbers, for the command's flags and for the options of `startMock`. */
export const ranges = { port: [0, 65_535], journal: [0, 1_000_000] } as const;

/** Options that `startMock` and `createMock` replace by what they stand for. */
export interface NamedOptions {
  /** Values for `${NAME}` in the keys of the fixture. Default: the environment of the process. */
  readonly env?: Environment;
  /** Id of a fault, or of a variant. */
  readonly fault?: string | undefined;
  readonly variant?: string | undefined;
  /** `off` removes the limits of the fixture. */
  readonly limits?: 'on' | 'off' | undefined;
}

/** Options of a mock, with or without a socket. */
export interface MockData {
  /** Default: the built-in fixture. */
  readonly fixture?: Fixture;
  /** Initial mode of the clocks, or a time source (Unix ms) with an optional mode. Default: the machine's clock. */
  readonly clock?: ClockMode | { now(): number; readonly mode?: ClockMode | undefined };
  readonly basePath?: string | undefined;
  /** Default: the conforming reference. */
  readonly behaviour?: Behaviour | undefined;
  readonly deviation?: Pick<Deviation, 'id' | 'change'> | undefined;
  /** Maximum number of requests in the journal of a world. */
  readonly journal?: number | undefined;
  /** The keys of the fixture are not secret and may be shown. Default: only for the built-in fixture. */
  readonly arePublicKeys?: boolean | undefined;
}

/** What an option needs, in words, and the check of it. */
type Needed = readonly [words: string, has: (value: unknown) => boolean];

const ofType = (type: string): Needed => [`a ${type}`, (value) => typeof value === type];
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const object: Needed = ['an object', isObject];
const within = ([min, max]: readonly [number, number]): Needed => [
  `a whole number from ${min} to ${max}`,
  (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
];

const hasOnly = (value: unknown, ...names: readonly string[]) =>
  isObject(value) && Object.keys(value as object).every((name) => names.includes(name));

function isClock(value: unknown): boolean {
  const { now, mode } = Object(value) as { now?: unknown; mode?: unknown };
  const isMode = mode === undefined || clockModes.includes(mode as 'real');
  return isObject(value) && typeof now === 'function' && isMode;
}

function isAdmin(value: unknown): boolean {
  const { token } = Object(value) as { token?: unknown };
  return hasOnly(value, 'token') && (token === undefined || typeof token === 'string');
}

/** Whether a text is the path of a URL that leaves the admin API its own. */
const isBasePath = (value: unknown) =>
  typeof value === 'string' && /^[\w.~!$&'()*+,;=:@%/-]*$/.test(value) && !/^\/*__admin(?:\/|$)/.test(value);

/** All options of `startMock` and `createMock`. */
const known: Readonly<Record<string, Needed>> = {
  port: within(ranges.port),
  host: ['a host name or an address', (value) => typeof value === 'string' && value !== ''],
  fixture: ['a fixture', () => true],
  env: object,
  arePublicKeys: ofType('boolean'),
  basePath: ['a path of a URL such as /gateway/v2, not /__admin', isBasePath],
  clock: [
    `${clockModes.join(', ')}, or an object with a function now`,
    (value) => clockModes.includes(value as 'real') || isClock(value),
  ],
  limits: ['on or off', (value) => value === 'on' || value === 'off'],
  fault: ofType('string'),
  variant: ofType('string'),
  behaviour: object,
  deviation: object,
  journal: within(ranges.journal),
  onExchange: ofType('function'),
  admin: ['false, or an object with a token', (value) => value === false || isAdmin(value)],
  cors: ofType('boolean'),
  keepsProcess: ofType('boolean'),
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
  const change = deviationOf('variant', variant, 'option ')?.change;
  const deviation = deviationOf('fault', fault, 'option ');
  return {
    ...options,
    env,
    ...(own && { fixture: own }),
    ...(limits === 'off' && {
      fixture: withoutLimits(own ?? (builtIn as Fixture)),
      arePublicKeys: options.arePublicKeys ?? own === undefined,
    }),
    ...(change && { behaviour: change(options.behaviour ?? reference) }),
    ...(deviation && { deviation }),
  };
}

export const deviations: { readonly fault: typeof faults; readonly variant: typeof variants } = {
  fault: faults,
  variant: variants,
};

/**
 * Returns the fault or variant with an id; undefined: no id is given.
 *
 * @throws Problem with code `usage`
 */
export function deviationOf(what: keyof typeof deviations, id: string | undefined, source: 'option ' | '--') {
  const all = deviations[what];
  if (id === undefined) return undefined;
  if (Object.hasOwn(all, id)) return all[id]!;
  const [others, list] = source === '--' ? [['list'], ` (--${what} list lists them)`] : [[], ''];
  const hint = didYouMean(id, [...others, ...Object.keys(all)]);
  throw wrongUsage(`${source}${what} ${id}: there is no such ${what}${hint}${list}`);
}

/** Returns a fixture without its limits. */
export function withoutLimits({ limits: _, apiKeys = [], ...fixture }: Fixture): Fixture {
  return { ...fixture, apiKeys: apiKeys.map(({ limits: __, ...apiKey }) => apiKey) };
}
