import { suiteOf, type Requirement } from '../requirement.ts';

/** Requirements that are checked one after another. */
type Lane = readonly Requirement[];

/** Lanes that are worked on side by side. */
type Stage = readonly Lane[];

/** Deposits that will become EXECUTED are looked at early. */
const suiteOrder = ['valid', 'pending', 'foreign-ib', 'auth', 'invalid-uuid', 'robustness', 'rate-limit'];

/**
 * Lays out a run. The two endpoints have a limiter each, so that neither has to wait for the
 * other's; the limiters are driven to their limits when nothing else is left to do, and what holds
 * of the whole run is judged at its end.
 */
export function schedule(requirements: readonly Requirement[]): readonly Stage[] {
  const rank = (requirement: Requirement) => suiteOrder.indexOf(suiteOf(requirement));
  const ordered = requirements.toSorted((a, b) => rank(a) - rank(b));
  const isLast = ({ kind }: Requirement) => kind === 'watch';
  const isLimiter = (requirement: Requirement) => suiteOf(requirement) === 'rate-limit';
  // A revoked key may be one that shares the load: nothing else is under way meanwhile.
  const isAlone = ({ id }: Requirement) => id.startsWith('auth/') && id.endsWith('/revocation');
  const early = ordered.filter((requirement) => ![isLast, isLimiter, isAlone].some((is) => is(requirement)));
  const lane = (endpoint: string) => early.filter(({ id }) => id.split('/')[1] === endpoint);
  return [
    [lane('user-status'), lane('deposit-check')],
    [[...lane('service'), ...ordered.filter(isAlone)]],
    [ordered.filter((requirement) => !isLast(requirement) && isLimiter(requirement))],
    [ordered.filter(isLast)],
  ];
}
