import { authFaults } from './faults/auth.ts';
import { changeFaults } from './faults/changes.ts';
import { errorFaults } from './faults/errors.ts';
import { foreignIbFaults } from './faults/foreign-ib.ts';
import { headerFieldFaults } from './faults/header-fields.ts';
import { invalidUuidFaults } from './faults/invalid-uuid.ts';
import { pendingFaults } from './faults/pending.ts';
import { rateLimitFaults } from './faults/rate-limit.ts';
import { robustnessFaults } from './faults/robustness.ts';
import type { Fault, Faults } from './faults/define.ts';
import { validDepositFaults } from './faults/valid-deposit-check.ts';
import { validIdFaults } from './faults/valid-ids.ts';
import { validServiceFaults } from './faults/valid-service.ts';
import { validUserFaults } from './faults/valid-user-status.ts';
import { wayAroundFaults } from './faults/ways-around.ts';

export type { Fault, Faults } from './faults/define.ts';

/** All faults with their ids; duplicate ids stay, so that a test can find them. */
export const faultEntries: readonly (readonly [string, Fault])[] = [
  validUserFaults,
  validDepositFaults,
  validIdFaults,
  invalidUuidFaults,
  foreignIbFaults,
  pendingFaults,
  changeFaults,
  authFaults,
  headerFieldFaults,
  wayAroundFaults,
  rateLimitFaults,
  robustnessFaults,
  errorFaults,
  validServiceFaults,
].flatMap((group) => Object.entries(group));

/** All faults by id. Each proves that certain requirements can fail. */
export const faults: Faults = Object.fromEntries(faultEntries);
