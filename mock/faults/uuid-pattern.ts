import type { Endpoint } from '../../schemas/endpoints.ts';
import { accept, type Change } from '../change.ts';

const versions: Readonly<Record<Endpoint, string>> = { 'user-status': '4', 'deposit-check': '[1-8]' };

/** Source of a UUID pattern whose five groups may be widened. */
export function groups(
  endpoint: Endpoint,
  [a, b, c, d, e]: readonly string[] = [
    '[0-9a-f]{8}',
    '[0-9a-f]{4}',
    '[0-9a-f]{3}',
    '[0-9a-f]{3}',
    '[0-9a-f]{12}',
  ],
): string {
  return `${a}-${b}-${versions[endpoint]}${c}-[89ab]${d}-${e}`;
}

/** Every hexadecimal digit may be any of a wider class. */
export function classes(hex: string): readonly string[] {
  return [8, 4, 3, 3, 12].map((count) => `${hex}{${count}}`);
}

/** Accepts what matches a pattern built around the groups of a UUID. */
export function matching(
  which: readonly Endpoint[],
  source: (endpoint: Endpoint) => string,
  flags = 'i',
): Change {
  return accept(which, (value, endpoint) => new RegExp(source(endpoint), flags).test(value));
}
