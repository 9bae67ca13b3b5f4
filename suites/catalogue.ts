import { auth } from './auth.ts';
import { foreignIb } from './foreign-ib.ts';
import { invalidUuid } from './invalid-uuid.ts';
import { pending } from './pending.ts';
import { rateLimit } from './rate-limit.ts';
import { suiteOf, type Requirement } from './requirement.ts';
import { robustness } from './robustness.ts';
import { valid } from './valid.ts';

/** The suites by name, in the order of the reports. */
export const suites = {
  valid,
  'invalid-uuid': invalidUuid,
  'foreign-ib': foreignIb,
  pending,
  auth,
  'rate-limit': rateLimit,
  robustness,
} as const satisfies Record<string, readonly Requirement[]>;

export type SuiteName = keyof typeof suites;

/** Every requirement, in the order of the reports. */
export const catalogue: readonly Requirement[] = Object.values(suites).flat();

/**
 * The order in which suites run: deposits that will become EXECUTED are looked at early, and the
 * limiters are driven to their limits when nothing else is left to do.
 */
const runOrder: readonly SuiteName[] = [
  'valid',
  'pending',
  'foreign-ib',
  'auth',
  'invalid-uuid',
  'robustness',
  'rate-limit',
];

/** Sorts requirements into the order in which they are to run. */
export function inRunOrder(requirements: readonly Requirement[]): readonly Requirement[] {
  const rank = (requirement: Requirement) => runOrder.indexOf(suiteOf(requirement) as SuiteName);
  return requirements.toSorted((a, b) => rank(a) - rank(b));
}
