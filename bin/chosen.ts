import { select } from './select.ts';
import type { VerifyOptions } from './verify-server.ts';

/**
 * The requirements that the options of a program choose, in the order in which a record has them.
 *
 * @throws Problem with code `usage` for a name that there is not, or where nothing is left to check
 */
export function chosen(options: Omit<VerifyOptions, 'url'>) {
  return select({
    suite: options.suite ?? [],
    only: options.only ?? [],
    skip: options.skip ?? [],
    hasStateHook: options.stateUrl !== undefined,
  });
}
