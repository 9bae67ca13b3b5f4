import type { Fixture } from '../schemas/generated/types.ts';
import { checked, type GivenFixture } from './in-process.ts';
import * as server from './server.ts';

export { createMock, type InProcessMock, type InProcessOptions } from './in-process.ts';
export type { Fixture } from '../schemas/generated/types.ts';

export interface MockOptions extends server.MockOptions, GivenFixture {}

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
