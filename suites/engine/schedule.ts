import { suiteOf, type Requirement, type Scenario } from '../requirement.ts';

/** The scenarios of a run, in the order in which they run. */
export interface Schedule {
  /** Deposits that will become EXECUTED are looked at before anything else. */
  readonly first: readonly Scenario[];
  /** Side by side, one lane for each endpoint. */
  readonly lanes: readonly (readonly Scenario[])[];
  /** Nothing else is under way meanwhile. */
  readonly alone: readonly Scenario[];
  /** Drives the limiters to their limits, at the end: one endpoint after the other, as one limiter may serve both. */
  readonly limiters: readonly Scenario[];
}

/** Required requirements come first: what is cut for want of time is cut from the end. */
const rank = ({ level }: Requirement) => ['required', 'recommended', 'observed'].indexOf(level);

export function schedule(requirements: readonly Requirement[]): Schedule {
  const scenarios = requirements
    .filter((requirement): requirement is Scenario => requirement.kind === 'scenario')
    .toSorted((a, b) => rank(a) - rank(b));
  const isFirst = ({ id }: Requirement) => id === 'pending/deposit-check/becomes-executed';
  const isLimiter = (requirement: Requirement) => suiteOf(requirement) === 'rate-limit';
  // A revoked key may be one that shares the load.
  const isAlone = ({ id }: Requirement) => id.endsWith('/revocation');
  const others = scenarios.filter((one) => ![isFirst, isLimiter, isAlone].some((is) => is(one)));
  return {
    first: scenarios.filter(isFirst),
    lanes: ['user-status', 'deposit-check', 'service'].map((endpoint) =>
      others.filter(({ id }) => id.split('/')[1] === endpoint),
    ),
    alone: scenarios.filter(isAlone),
    limiters: scenarios.filter(isLimiter),
  };
}
