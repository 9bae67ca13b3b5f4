import type { Answer, Reply, Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Case, Property } from '../requirement.ts';
import { unjudged, type Verdict } from '../verdict.ts';
import type { Delivery } from './courier.ts';

/** What a requirement comes to, with the exchange that shows it. */
export interface Judgement {
  readonly verdict: Verdict;
  /** Distinct inputs that were judged. */
  readonly cases: number;
  /** Distinct inputs that were to be judged, where not all of them were. */
  readonly planned?: number;
  readonly evidence?: Delivery;
  /** Leads to the input again, with the same seed. */
  readonly path?: string;
}

/** A case that was sent. */
export interface Trial {
  readonly verdict: Verdict;
  readonly deliveries: readonly Delivery[];
  /** Whether the key under test was known to work at that time. */
  readonly keyWorks: boolean | undefined;
}

type Failure = Verdict & { readonly kind: 'failed' };

/** Judges what came of a case. */
export function trialOf(
  candidate: Case,
  property: Property,
  deliveries: readonly Delivery[],
  keyWorks: boolean | undefined,
): Trial {
  return { verdict: verdictOn(candidate, property, deliveries, keyWorks), deliveries, keyWorks };
}

function verdictOn(
  candidate: Case,
  property: Property,
  deliveries: readonly Delivery[],
  keyWorks: boolean | undefined,
): Verdict {
  const replies = deliveries.map(({ reply }) => reply);
  const trouble = replies.find((reply) => reply.kind === 'trouble');
  if (trouble !== undefined) return onTrouble(candidate, trouble);
  const verdict = candidate.judge(replies as readonly Answer[]);
  if (
    verdict.kind === 'failed' &&
    !property.provesKey &&
    isRefusal(deliveries, verdict.at) &&
    keyWorks === false
  )
    return unjudged('key-refused', 'the target answers every request of the key under test with 401');
  return verdict;
}

/** Time-outs and resets may be part of what is judged; that nothing could be sent never is. */
function onTrouble(candidate: Case, trouble: Trouble): Verdict {
  const isAboutTarget = trouble.code === 'timeout' || trouble.code === 'network';
  return isAboutTarget && candidate.onTrouble !== undefined
    ? candidate.onTrouble(trouble)
    : unjudged(trouble.code, trouble.words);
}

/** Whether the answer that failed is a 401 to a key that should work. */
function isRefusal(deliveries: readonly Delivery[], at = 0): boolean {
  const { request, reply } = deliveries[at]!;
  return request.credential.as === 'key' && reply.kind === 'answer' && reply.status === 401;
}

/** What one trial comes to by itself, beside so many others. */
export function judgementOf({ verdict, deliveries }: Trial, cases: number): Judgement {
  const at =
    verdict.kind === 'failed' ? verdict.at : deliveries.findIndex(({ reply }) => reply.kind === 'trouble');
  const evidence = deliveries[at === undefined || at < 0 ? 0 : at];
  return { verdict, cases, ...(evidence === undefined ? {} : { evidence }) };
}

/** Whether something that should have been judged was not. */
export const isGap = ({ verdict }: Trial) => verdict.kind === 'unjudged' && verdict.reason !== 'depends';

/** Nothing failed: it holds if anything was judged and nothing that should have been is missing. */
export function summarize(
  trials: readonly (readonly [number, Trial])[],
  path: string | undefined,
): Judgement {
  const cases = trials.filter(([, { verdict }]) => verdict.kind === 'held').length;
  const gap = trials.find(([, trial]) => isGap(trial));
  const rest = gap ?? (cases > 0 ? undefined : trials[0]);
  if (trials.length === 0)
    return { verdict: unjudged('budget', 'time or requests were used up before its turn came'), cases };
  if (rest === undefined) return { verdict: { kind: 'held' }, cases };
  return { ...judgementOf(rest[1], cases), path: path ?? String(rest[0]) };
}

/** A trial that failed, and how to look at it once more. */
export interface FailedTrial {
  readonly trial: Trial;
  /** Which input of the draw. */
  readonly index: number;
  /** Inputs that were tried. */
  readonly cases: number;
  /** The same input once more; undefined where asking again would change what is asked about. */
  readonly again?: () => Promise<Trial>;
  /** What a plain lookup gets now, where that can be known. */
  readonly control?: () => Promise<Reply>;
  /** The smallest input that fails as this one does, and the path to it. */
  readonly shrink: () => Promise<{ readonly trial: Trial; readonly path: string } | undefined>;
}

const hadTrouble = ({ deliveries }: Trial) => deliveries.some(({ reply }) => reply.kind === 'trouble');

/** A lookup that nobody is let in with, of an id that is known if any is: a target that is there answers it. */
export const controlOf = ({ requests }: Case, known: Known): Request => {
  const { endpoint } = requests[0]!;
  return lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } });
};

/**
 * What fails once counts only where it fails again, and for want of an answer only where others get
 * one; then it is made as small as it gets.
 */
export async function confirmed(failed: FailedTrial): Promise<Judgement> {
  const { trial, index, cases, again, control, shrink } = failed;
  if (again === undefined) return { ...judgementOf(trial, cases), path: String(index) };
  const second = await again();
  if (second.verdict.kind === 'unjudged' && second.verdict.reason !== 'depends')
    return { ...judgementOf(second, cases), path: String(index) };
  if (second.verdict.kind !== 'failed') {
    const { expected, actual } = trial.verdict as Failure;
    return {
      ...judgementOf(trial, cases),
      verdict: unjudged(
        'flaky',
        `expected ${expected}; once the answer was ${actual}, and when asked again it was as expected`,
      ),
      path: String(index),
    };
  }
  if (hadTrouble(second)) {
    const reply = await control?.();
    if (reply?.kind === 'trouble')
      return {
        ...judgementOf(second, cases),
        verdict: unjudged(reply.code, `a plain lookup got no answer either: ${reply.words}`),
        path: String(index),
      };
  }
  const smallest = await shrink();
  return { ...judgementOf(smallest?.trial ?? second, cases), path: smallest?.path ?? String(index) };
}
