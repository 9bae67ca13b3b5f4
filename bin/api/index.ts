import type { RunRecord } from '../../schemas/generated/types.ts';
import type { VerifyOptions } from '../verify-server.ts';

export { loadFixture } from '../fixture-file.ts';
export { Problem } from '../../schemas/problem.ts';
export { version } from '../version.ts';
export { createMock, startMock, type Fixture, type Mock, type MockOptions } from './mock.ts';
export type { RunRecord, VerifyOptions };

/**
 * Verifies a server. The engine is loaded when it is first called.
 *
 * @returns the run record: verdict, counts, and each requirement with its outcome and evidence
 * @throws Problem for options that name what there is not, for a fixture that is wrong, and for a server
 *   that cannot be reached
 */
export async function verify(options: VerifyOptions): Promise<RunRecord> {
  const { verifyServer } = await import('../verify-server.ts');
  return verifyServer(options);
}
