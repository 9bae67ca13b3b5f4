import { auth } from './auth.ts';
import { foreignIb } from './foreign-ib.ts';
import { invalidUuid } from './invalid-uuid.ts';
import { pending } from './pending.ts';
import { rateLimit } from './rate-limit.ts';
import type { Requirement } from './requirement.ts';
import { robustness } from './robustness.ts';
import { valid } from './valid.ts';

/** The suites by name, in the order in which reports list them. */
export const suites = {
  valid,
  'invalid-uuid': invalidUuid,
  'foreign-ib': foreignIb,
  pending,
  auth,
  'rate-limit': rateLimit,
  robustness,
} as const satisfies Record<string, readonly Requirement[]>;

/** Every requirement, in the order in which reports list them. */
export const catalogue: readonly Requirement[] = Object.values(suites).flat();
