import { suiteOf, type Requirement, type Scenario } from '../requirement.ts';

/** Required ones come first: a run that is out of time drops the last ones. */
const rank = ({ level }: Requirement) => ['required', 'recommended', 'observed'].indexOf(level);

/** The scenarios of a run, in order. */
export function schedule(requirements: readonly Requirement[]) {
  const scenarios = requirements
    .filter((requirement): requirement is Scenario => requirement.kind === 'scenario')
    .toSorted((a, b) => rank(a) - rank(b));
  const isBecoming = ({ id }: Requirement) => id === 'pending/deposit-check/becomes-executed';
  const isLimiter = (requirement: Requirement) => suiteOf(requirement) === 'rate-limit';
  // The revoked key may be in use by other lookups.
  const isAlone = ({ id }: Requirement) => id.endsWith('/revocation');
  const others = scenarios.filter((one) => ![isBecoming, isLimiter, isAlone].some((is) => is(one)));
  return {
    /** Waits for deposits to become EXECUTED. Other lookups go on meanwhile if they do not ask for these deposits. */
    becoming: scenarios.filter(isBecoming),
    /** Lanes that run concurrently, one for each endpoint. */
    lanes: ['user-status', 'deposit-check', 'service'].map((endpoint) =>
      others.filter(({ id }) => id.split('/')[1] === endpoint),
    ),
    /** Nothing else runs at the same time. */
    alone: scenarios.filter(isAlone),
    /** Rate limits come last, one endpoint after the other: both may share a limiter. */
    limiters: scenarios.filter(isLimiter),
  };
}
