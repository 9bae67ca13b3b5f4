import { expandKeys, type Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { createMock, type InProcessMock, type InProcessOptions } from './in-process.ts';
import { startMock, type Mock, type MockOptions } from './server.ts';

interface GivenFixture {
  /** What `${NAME}` in a key of the fixture is read from; the environment of the process where it is missing. */
  readonly env?: Environment;
}

export interface CheckedMockOptions extends MockOptions, GivenFixture {}
export interface CheckedInProcessOptions extends InProcessOptions, GivenFixture {}

export interface CheckedMock extends Omit<Mock, 'replaceFixture'> {
  /**
   * Another fixture in the place of the one that is served, and everything as at first. A wrong one is
   * rejected with a Problem of code `fixture`, and the one before is served on.
   */
  replaceFixture(fixture: Fixture): Promise<void>;
}

/**
 * Starts the reference server, over a fixture that is checked as one in a file is.
 *
 * @throws Problem of code `fixture`, a line for each problem with its place, or of code `usage` where
 *   another option is wrong
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startCheckedMock({
  fixture,
  env = process.env,
  ...options
}: CheckedMockOptions = {}): Promise<CheckedMock> {
  const given = fixture && { fixture: await checked(fixture, env) };
  const mock = await startMock({ ...options, ...given });
  return { ...mock, replaceFixture: async (next) => mock.replaceFixture(await checked(next, env)) };
}

/**
 * Makes a mock in this process; an interceptor of fetch can mount its `handle`. It waits for nothing
 * that is not asked for. The fixture is checked when it is asked for the first time: `handle` rejects with
 * a Problem of code `fixture` where it is wrong.
 */
export function createCheckedMock({
  fixture: given,
  env = process.env,
  ...options
}: CheckedInProcessOptions = {}): InProcessMock {
  if (given === undefined) return createMock(options);
  const fixture = ownLists(given);
  const mock = createMock({ ...options, fixture: expandKeys(fixture, env).fixture });
  let check: Promise<Fixture> | undefined;
  return {
    ...mock,
    handle: async (request) => {
      await (check ??= checked(fixture, env));
      return mock.handle(request);
    },
  };
}

/** The validator is loaded when there is something to check: most mocks serve the built-in fixture. */
async function checked(fixture: Fixture, env: Environment): Promise<Fixture> {
  const { checkFixture } = await import('../schemas/fixture.ts');
  return checkFixture(ownLists(fixture), 'fixture', env);
}

/** What the caller does to a list later would be found by no index. */
function ownLists(fixture: Fixture): Fixture {
  // From JavaScript it may be anything; what it is not is for the check to say.
  if (fixture === null || Array.isArray(fixture)) return fixture;
  const parts = Object.entries(fixture).map(([name, part]: [string, unknown]) => [
    name,
    Array.isArray(part) ? [...(part as unknown[])] : part,
  ]);
  return Object.fromEntries(parts) as Fixture;
}
