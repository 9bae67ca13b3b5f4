import type { Endpoint } from '../schemas/endpoints.ts';

/** `$` without the m flag matches at the very end only; the i flag without u folds ASCII letters only. */
const patterns: Readonly<Record<Endpoint, RegExp>> = {
  'user-status': /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
  'deposit-check': /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
};

/**
 * Whether an endpoint's parameter is well formed: a UUID of version 4 for user-status, of version 1
 * to 8 for deposit-check, with the variant bits of RFC 9562, in any letter case (Endpoints).
 */
export function isId(endpoint: Endpoint, value: string): boolean {
  return patterns[endpoint].test(value);
}
