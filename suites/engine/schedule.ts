import { suiteOf, type Requirement } from '../requirement.ts';

/** Requirements that are checked one after another. */
type Lane = readonly Requirement[];

/** A part of a run: lanes that are worked on side by side. */
export interface Stage {
  readonly lanes: readonly Lane[];
  /** Inputs that each requirement of a lane has had when its turn is over, turn after turn. */
  readonly rounds: readonly number[];
  /** Whether it gives way where time or requests are short. */
  readonly givesWay: boolean;
}

/** An input of everything comes before many of anything. */
const FIRST = [1];

/** What has to be cut is cut from the end of these. */
const DEPTH = [4, 16, 64, 256, Number.POSITIVE_INFINITY];

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
  const isLimiter = (requirement: Requirement) =>
    suiteOf(requirement) === 'rate-limit' && !isLast(requirement);
  // A revoked key may be one that shares the load: nothing else is under way meanwhile.
  const isAlone = ({ id }: Requirement) => id.startsWith('auth/') && id.endsWith('/revocation');
  const early = ordered.filter((requirement) => ![isLast, isLimiter, isAlone].some((is) => is(requirement)));
  const laneOf = (list: Lane, endpoint: string) => list.filter(({ id }) => id.split('/')[1] === endpoint);
  const bothEndpoints = (list: Lane) => [laneOf(list, 'user-status'), laneOf(list, 'deposit-check')];
  const judging = early.filter(({ level }) => level !== 'observed');
  const observing = early.filter(({ level }) => level === 'observed');
  // Who asks the same again comes after everybody who asks it for the first time.
  const repeats = (requirement: Requirement) => requirement.kind === 'property' && requirement.fresh;
  const asksAnew = judging.filter((requirement) => !repeats(requirement));
  const asksAgain = judging.filter(repeats);
  const isRequired = ({ level }: Requirement) => level === 'required';
  const isRecommended = ({ level }: Requirement) => level === 'recommended';
  const whole = (...lanes: readonly Lane[]) => ({ lanes, rounds: FIRST, givesWay: false });
  const depth = (...lanes: readonly Lane[]) => ({ lanes, rounds: DEPTH, givesWay: true });
  return [
    whole(
      ...bothEndpoints([
        ...asksAnew.filter(isRequired),
        ...asksAgain.filter(isRequired),
        ...asksAnew.filter(isRecommended),
      ]),
    ),
    whole(laneOf(judging, 'service')),
    depth(...bothEndpoints(asksAnew)),
    depth(...bothEndpoints(asksAgain.filter(isRequired))),
    whole(ordered.filter(isAlone)),
    depth(...bothEndpoints(asksAgain)),
    depth(...bothEndpoints(observing), laneOf(observing, 'service')),
    // A burst from rest needs silence on the other endpoint as well: one limiter may serve both.
    whole(ordered.filter(isLimiter)),
    whole(ordered.filter(isLast)),
  ];
}
