import type { Fixture } from '../../../schemas/generated/types.ts';
import { loadFixture } from '../../input-files.ts';

/** The built-in fixture. */
export const builtIn = await loadFixture(undefined, {});
const { limits: _, ...rest } = builtIn;
/** Without limits, so that no test waits for limiters. */
export const unlimited: Fixture = rest;
/** Also with one key only, so that no other key shares the load. */
export const oneKey: Fixture = {
  ...unlimited,
  apiKeys: unlimited.apiKeys!.filter(({ key }) => key !== 'northwind-spare-key'),
};
