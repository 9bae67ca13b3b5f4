import { randomInt } from 'node:crypto';
import { defined, oncePer } from '../schemas/values.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import {
  catalogue,
  createClient,
  knownFrom,
  realClock,
  type Requirement,
  type RunOptions,
} from '../suites/index.ts';
import type { VerifyOptions } from './api/verify-options.ts';
import { defaults } from './commands/flags.ts';
import { version } from './version.ts';

/** Header fields of every request. */
export const ourHeaders = { 'user-agent': `ib-conformance/${version}` } as const;

/** The options of the API that define a run; the command line may omit them. */
export type RunSettings = {
  readonly [Name in keyof Settings]: Settings[Name] | undefined;
} & {
  readonly fixture: Fixture;
  readonly tls?: RunOptions['tls'];
  readonly stateUrl?: URL | undefined;
  /** Whether the target has a state hook; without it, if `stateUrl` is given. */
  readonly hasStateHook?: boolean;
  /** Maximum real time of a run on a virtual clock, in ms. */
  readonly maxRealMs?: number | undefined;
};

type Settings = Omit<
  VerifyOptions,
  'url' | 'env' | 'fixture' | 'tls' | 'stateUrl' | 'strict' | 'allowIncomplete' | 'onProgress'
>;

/**
 * Builds the options of a run for the command line, the API, doctor and the self-test.
 *
 * @throws Problem with code `usage` for an unknown name, or if nothing is left to check
 */
export function runOptions({
  fixture,
  partner,
  seed = randomInt(2 ** 31),
  cases = defaults.cases,
  concurrency,
  timeoutMs = defaults.timeoutMs,
  waitMs,
  maxDurationMs = defaults.maxDurationMs,
  maxRealMs,
  maxRequests = Number.POSITIVE_INFINITY,
  graceMs = defaults.graceMs,
  rate,
  headers = {},
  tls = { insecure: false },
  stateUrl,
  hasStateHook = stateUrl !== undefined,
  signal = new AbortController().signal,
  ...filters
}: RunSettings): Omit<RunOptions, 'target'> & Selection {
  return {
    ...select(filters, hasStateHook),
    known: partner === undefined ? knownOf(fixture) : knownFrom(fixture, partner),
    seed,
    cases,
    concurrency: concurrency ?? defaults.concurrency,
    burstConcurrency: concurrency,
    timeoutMs,
    maxDurationMs,
    maxRequests,
    graceMs,
    headers: { ...ourHeaders, ...headers },
    tls,
    ...defined({ maxRealMs, rate, waitMs, stateHook: stateUrl && stateHookAt(stateUrl, timeoutMs, tls) }),
    clock: realClock,
    signal,
    version,
  };
}

/** Runs with the same fixture share what is derived from it. */
const knownOf = oncePer((fixture: Fixture) => knownFrom(fixture));

export interface Selection extends ReturnType<typeof select> {}

/**
 * @param only ids, suites, or beginnings of ids up to a slash, such as `auth/user-status`; so is `skip`
 * @returns requirements in the order of the record; skipped ones stay in the list
 * @throws Problem with code `usage` for an unknown name, or if nothing is left to check
 */
export function select({ only = [], skip = [] }: Pick<RunSettings, 'only' | 'skip'>, hasStateHook: boolean) {
  const chosen = new Set(only.flatMap((name) => requirementsNamed('only', name)));
  const requirements = only.length === 0 ? catalogue : catalogue.filter((one) => chosen.has(one));
  const skipped = new Set(skip.flatMap((name) => requirementsNamed('skip', name)).map(({ id }) => id));
  const needsHook = (requirement: Requirement) =>
    requirement.kind === 'scenario' && requirement.needsChange === 'hook';
  if (requirements.every((one) => skipped.has(one.id) || (!hasStateHook && needsHook(one))))
    throw wrongUsage(
      'the filters --only and --skip leave nothing to check (`npx ib-conformance requirements` lists all requirements)',
    );
  return {
    requirements,
    skip: skipped,
    // The same, as the record shows it.
    selection: { whole: requirements.length === catalogue.length, skip: [...skipped] },
  };
}

function requirementsNamed(flag: 'only' | 'skip', name: string): readonly Requirement[] {
  const beginning = name.replace(/\/$/, '');
  const found = catalogue.filter(({ id }) => id === beginning || id.startsWith(`${beginning}/`));
  if (found.length > 0) return found;
  const choices = catalogue.flatMap(({ id }) => {
    const [suite = '', endpoint] = id.split('/');
    return [suite, `${suite}/${endpoint}`, id];
  });
  throw wrongUsage(
    `--${flag} ${name}: there is no such requirement or suite${didYouMean(name, choices)} (\`npx ib-conformance requirements\` lists them)`,
  );
}

/**
 * Returns a state hook that calls a URL by Pact's convention: POST `{ state, params, action }`; any 2xx
 * means success. The error for another status has it as `status`.
 *
 * @param timeoutMs timeout of each call
 * @param network as for the target
 */
export function stateHookAt(
  url: URL,
  timeoutMs: number,
  network: RunOptions['tls'],
): NonNullable<RunOptions['stateHook']> {
  const options = { ...network, timeoutMs, target: new URL(url.origin), headers: {}, now: realClock.now };
  const signal = new AbortController().signal;
  return {
    change: async (action, state, params) => {
      const client = createClient({ ...options, connections: 1, signal });
      const reply = await client.send({
        method: 'POST',
        target: url.pathname,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ state, params, action }),
      });
      await client.close();
      if (reply.kind === 'trouble')
        throw new Error(`the state hook at ${url.href} cannot be reached: ${reply.words}`);
      const { status } = reply;
      if (status >= 200 && status <= 299) return;
      const words = `the state hook at ${url.href} answered ${status} to "${state}" (${action})`;
      throw Object.assign(new Error(words), { status });
    },
  };
}
