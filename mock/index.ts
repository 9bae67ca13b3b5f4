import { expandKeys, type Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import * as unchecked from './in-process.ts';
import * as server from './server.ts';

export type { InProcessMock } from './in-process.ts';
export type { Fixture } from '../schemas/generated/types.ts';

interface GivenFixture {
  /** What `${NAME}` in a key of the fixture is read from; the environment of the process where it is missing. */
  readonly env?: Environment;
}

export interface MockOptions extends server.MockOptions, GivenFixture {}
export interface InProcessOptions extends unchecked.InProcessOptions, GivenFixture {}

export interface Mock extends Omit<server.Mock, 'replaceFixture'> {
  /**
   * Serves another fixture, and resets everything. A wrong one is rejected with a Problem of code
   * `fixture`, and the one before is still served.
   */
  replaceFixture(fixture: Fixture): Promise<void>;
}

/**
 * Starts the reference server. The fixture is checked like one in a file.
 *
 * @throws Problem of code `fixture`, a line for each problem with its place, or of code `usage` where
 *   another option is wrong
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startMock({ fixture, env = process.env, ...options }: MockOptions = {}): Promise<Mock> {
  const given = fixture && { fixture: await checked(fixture, env) };
  const mock = await server.startMock({ ...options, ...given });
  return { ...mock, replaceFixture: async (next) => mock.replaceFixture(await checked(next, env)) };
}

/**
 * Makes a mock in this process; an interceptor of fetch can mount its `handle`. It waits for nothing
 * that is not asked for. The fixture is checked with the first request: `handle` rejects with a Problem of
 * code `fixture` where it is wrong.
 */
export function createMock({
  fixture,
  env = process.env,
  ...options
}: InProcessOptions = {}): unchecked.InProcessMock {
  if (fixture === undefined) return unchecked.createMock(options);
  const mock = unchecked.createMock({ ...options, fixture: expandKeys(fixture, env).fixture });
  let check: Promise<Fixture> | undefined;
  return {
    ...mock,
    handle: async (request) => {
      await (check ??= checked(fixture, env));
      return mock.handle(request);
    },
  };
}

/** The validator is loaded only when there is something to check. */
async function checked(fixture: Fixture, env: Environment): Promise<Fixture> {
  const { checkFixture } = await import('../schemas/fixture.ts');
  return checkFixture(fixture, 'fixture', env);
}
