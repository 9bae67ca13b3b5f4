import type { Case, Draw, Property } from '../requirement.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Courier, Delivery, Terms } from './courier.ts';
import { distinctOf, drawn, type Drawn } from './drawn.ts';
import type { OnEvent, Stage } from './events.ts';
import { inPool, inSlot, type Slots } from './pool.ts';
import {
  confirmed,
  controlOf,
  judgementOf,
  summarize,
  trialOf,
  type FailedTrial,
  type Judgement,
  type Trial,
} from './trial.ts';
import { createTrials } from './trials.ts';

export interface PropertyContext {
  readonly known: Known;
  readonly courier: Courier;
  readonly draw: Draw;
  /** For what is under way at once. */
  readonly slots: Slots;
  /** Judge only the input that this path leads to. */
  readonly path?: string;
  readonly onEvent?: OnEvent;
}

/** A property at work: its inputs are tried in rounds, so that what is cut for want of time is cut evenly. */
export interface Examination {
  /**
   * Tries so many inputs in all, those before included.
   *
   * @param until nothing is begun or waited for beyond this time (ms of the clock), nor missed
   * @param onBegun called when the last of them was begun
   * @returns what it comes to; undefined where more could be tried
   */
  readonly advance: (inputs: number, until?: number, onBegun?: () => void) => Promise<Judgement | undefined>;
  /** What it comes to by what was tried so far. */
  readonly judgement: () => Judgement;
  /** Distinct inputs, in all and so far. */
  readonly planned: number;
  readonly tried: () => number;
}

/**
 * Draws all inputs up front, sends those of a round together, and judges each. The first that fails
 * is sent again before it counts, and then shrunk.
 */
export function examine(property: Property, context: PropertyContext): Examination {
  const { known, draw, path, onEvent } = context;
  const distinct =
    path === undefined ? drawn(property, known, draw) : distinctOf([property.drawAt(known, draw, path)]);
  const trials = createTrials();
  onEvent?.({ kind: 'planned', of: property.id, inputs: distinct.length });
  /** Why no input was tried, where a limiter is why. */
  let refused: Judgement['verdict'] | undefined;
  const judgement = () => {
    if (trials.size === 0 && refused?.kind === 'unjudged') {
      onEvent?.({ kind: 'stopped', of: property.id, reason: refused.reason, words: refused.words });
      return { verdict: refused, cases: 0 };
    }
    const tried = [...trials].toSorted(([a], [b]) => a - b);
    const isCut = trials.size < distinct.length;
    return { ...summarize(tried, path), ...(isCut ? { planned: distinct.length } : {}) };
  };
  return {
    judgement,
    planned: distinct.length,
    tried: () => trials.size,
    advance: async (inputs, until, onBegun) => {
      const round = distinct
        .filter(({ index }) => !trials.has(index))
        .slice(0, inputs - trials.size)
        .toSorted((a, b) => a.index - b.index);
      let isCut = false;
      const work = async ({ item, index, names }: Drawn) => {
        const trial = await tryOut(item, property, context, names, until);
        const isLate = until !== undefined && isOutOfTime(trial);
        isCut ||= isLate;
        if (isLate && trial.verdict.kind === 'unjudged' && trial.verdict.reason === 'rate-limited')
          refused = trial.verdict;
        // What was under way with it has its answer all the same.
        if (!isLate) {
          trials.take(index, trial);
          tell(context, property, 'draw', index, item, trial);
        }
        return !isCut && trial.verdict.kind !== 'failed';
      };
      await inPool(round, context.slots, work, onBegun);
      const failure = round.find(({ index }) => trials.get(index)?.verdict.kind === 'failed');
      if (failure === undefined) return isCut || trials.size < distinct.length ? undefined : judgement();
      const { item, index } = failure;
      const trial = trials.get(index)!;
      return path === undefined
        ? confirmed(failedTrial(property, context, { item, index, trial, cases: trials.size }))
        : { ...judgementOf(trial, 1), path };
    },
  };
}

const isOutOfTime = ({ verdict }: Trial) =>
  verdict.kind === 'unjudged' && (verdict.reason === 'budget' || verdict.reason === 'rate-limited');

interface Failing {
  readonly item: Case;
  readonly index: number;
  readonly trial: Trial;
  readonly cases: number;
}

/** How a failing case is asked about again, and made smaller. */
function failedTrial(
  property: Property,
  context: PropertyContext,
  { item, index, trial, cases }: Failing,
): FailedTrial {
  const { known, courier, draw, slots, onEvent } = context;
  const once = async (stage: Stage, nth: number, candidate: Case) => {
    const next = await inSlot(slots, () => tryOut(candidate, property, context));
    tell(context, property, stage, nth, candidate, next);
    return next;
  };
  const shrink = async () => {
    const tried = new Map<Case, Trial>();
    const shrunk = await property.shrink(known, draw, index, async (candidate) => {
      const next = await once('shrink', tried.size, candidate);
      tried.set(candidate, next);
      return next.verdict;
    });
    const smallest = shrunk && tried.get(shrunk.candidate);
    if (shrunk === undefined || smallest === undefined) return undefined;
    onEvent?.({ kind: 'shrunk', of: property.id, path: shrunk.path });
    return { trial: smallest, path: shrunk.path };
  };
  const control = async () => {
    const delivery = await inSlot(slots, () => courier.deliver(controlOf(item, known), { of: property.id }));
    const event = { kind: 'trial', of: property.id, stage: 'control', nth: index } as const;
    onEvent?.({ ...event, input: undefined, deliveries: [delivery] });
    return delivery.reply;
  };
  const again = () => once('confirm', index, item);
  return { trial, index, cases, shrink, ...(item.once ? {} : { again, control }) };
}

/** Sends the requests of a case and judges the answers; under their names their first answers are shared. */
async function tryOut(
  candidate: Case,
  property: Property,
  { courier }: PropertyContext,
  names?: readonly string[],
  until?: number,
): Promise<Trial> {
  const { requests } = candidate;
  const terms: Terms = { of: property.id, until };
  const carry = (request: Request, at: number) =>
    names === undefined
      ? courier.deliver(request, terms)
      : courier[property.fresh ? 'deliverFirst' : 'share'](request, names[at]!, terms);
  const deliveries: Delivery[] = [];
  if (candidate.atOnce) deliveries.push(...(await Promise.all(requests.map(carry))));
  else for (let at = 0; at < requests.length; at++) deliveries.push(await carry(requests[at]!, at));
  return trialOf(candidate, property, deliveries, courier.keyWorks());
}

function tell(
  { onEvent }: PropertyContext,
  { id }: Property,
  stage: Stage,
  nth: number,
  { input }: Case,
  { deliveries, keyWorks }: Trial,
): void {
  onEvent?.({
    kind: 'trial',
    of: id,
    stage,
    nth,
    input,
    deliveries,
    ...(keyWorks === undefined ? {} : { keyWorks }),
  });
}
