import { absentFaults } from './faults/absent.ts';
import { amountFaults } from './faults/amounts.ts';
import { bodyFaults } from './faults/bodies.ts';
import { dateFaults } from './faults/dates.ts';
import { encodingFaults } from './faults/encoding.ts';
import { errorBodyFaults } from './faults/error-bodies.ts';
import { errorStatusFaults } from './faults/error-statuses.ts';
import { executedFaults } from './faults/executed.ts';
import { foreignFaults } from './faults/foreign.ts';
import { headerFaults } from './faults/headers.ts';
import { keyPlaceFaults } from './faults/key-places.ts';
import { keyStateFaults } from './faults/key-states.ts';
import { keyFaults } from './faults/keys.ts';
import { lastOneFaults } from './faults/last-one.ts';
import { leakFaults } from './faults/leaks.ts';
import { letterCaseFaults } from './faults/letter-case.ts';
import { limitFaults } from './faults/limits.ts';
import { memberFaults } from './faults/members.ts';
import { messageFaults } from './faults/messages.ts';
import { patternFaults } from './faults/patterns.ts';
import { pendingFaults } from './faults/pending.ts';
import { readerFaults } from './faults/readers.ts';
import type { Fault, Faults } from './faults/rows.ts';
import { scopeFaults } from './faults/scope.ts';
import { stabilityFaults } from './faults/stability.ts';
import { tellingApartFaults } from './faults/telling-apart.ts';
import { timeFaults } from './faults/times.ts';
import { versionFaults } from './faults/versions.ts';

export type { Fault, Faults } from './faults/rows.ts';

/** The faults by what they concern, in the order of the suites. */
const groups: readonly Faults[] = [
  memberFaults,
  dateFaults,
  executedFaults,
  amountFaults,
  timeFaults,
  lastOneFaults,
  letterCaseFaults,
  absentFaults,
  patternFaults,
  readerFaults,
  versionFaults,
  encodingFaults,
  foreignFaults,
  scopeFaults,
  tellingApartFaults,
  pendingFaults,
  headerFaults,
  keyFaults,
  keyStateFaults,
  keyPlaceFaults,
  limitFaults,
  messageFaults,
  errorBodyFaults,
  errorStatusFaults,
  bodyFaults,
  leakFaults,
  stabilityFaults,
];

/** Every fault with its id, those whose ids are taken twice included. */
export const faultEntries: readonly (readonly [string, Fault])[] = groups.flatMap((group) =>
  Object.entries(group),
);

/** Every named single deviation, by id: each shows that the suites can fail what they check. */
export const faults: Faults = Object.fromEntries(faultEntries);
