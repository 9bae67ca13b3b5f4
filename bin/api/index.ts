import type { Fixture, RunRecord } from '../../schemas/generated/types.ts';
import type { VerifyOptions } from './verify-options.ts';

export { loadFixture } from '../fixture-file.ts';
export { Problem } from '../../schemas/problem.ts';
export { version } from '../version.ts';
export { createMock, startMock, type Mock, type MockOptions } from '../../mock/index.ts';
export type { Fixture, RunRecord, VerifyOptions };

/**
 * Verifies a server. The engine is loaded by the first call.
 *
 * @returns the run record: verdict, counts, and each requirement with its outcome and evidence
 * @throws Problem for unknown names, for a wrong fixture, and for a server that cannot be reached
 */
export async function verify(given: VerifyOptions): Promise<RunRecord> {
  const { url, fixture, env = process.env, headers = {}, tls, stateUrl, minStrength = 1, ...options } = given;
  const { runOptions } = await import('../run-options.ts');
  const { run } = await import('../../suites/index.ts');
  const { headerFields, targetUrl } = await import('../values.ts');
  const { checkFixture } = await import('../../schemas/fixture.ts');
  const request = runOptions({
    ...options,
    minStrength,
    fixture: checkFixture(fixture, 'fixture', env),
    headers: headerFields(Object.entries(headers).map(([name, value]) => `${name}: ${value}`)),
    tls: { insecure: false, ...tls },
    stateUrl: stateUrl === undefined ? undefined : targetUrl(stateUrl),
  });
  return run({ ...request, target: targetUrl(url) });
}
