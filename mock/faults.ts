import { authFaults } from './faults/auth.ts';
import { errorFaults } from './faults/errors.ts';
import { foreignIbFaults } from './faults/foreign-ib.ts';
import { invalidUuidFaults } from './faults/invalid-uuid.ts';
import { pendingFaults } from './faults/pending.ts';
import { rateLimitFaults } from './faults/rate-limit.ts';
import { robustnessFaults } from './faults/robustness.ts';
import type { Fault, Faults } from './faults/table.ts';
import { validDepositFaults } from './faults/valid-deposit-check.ts';
import { validIdFaults } from './faults/valid-ids.ts';
import { validServiceFaults } from './faults/valid-service.ts';
import { validUserFaults } from './faults/valid-user-status.ts';

export type { Fault, Faults } from './faults/table.ts';

/** Every fault with its id, those that concern all answers last. An id that is used twice is in it twice. */
export const faultEntries: readonly (readonly [string, Fault])[] = [
  validUserFaults,
  validDepositFaults,
  validIdFaults,
  invalidUuidFaults,
  foreignIbFaults,
  pendingFaults,
  authFaults,
  rateLimitFaults,
  robustnessFaults,
  errorFaults,
  validServiceFaults,
].flatMap((group) => Object.entries(group));

/** Every named single deviation, by id: each shows that the suites can fail what they check. */
export const faults: Faults = Object.fromEntries(faultEntries);
