import { fingerprint, type Request } from '../request.ts';
import type { Case, Draw, Property } from '../requirement.ts';
import type { Known } from '../known.ts';
import type { Courier, Delivery } from './courier.ts';
import { ignore, type OnEvent, type Stage } from './events.ts';
import { inPool } from './pool.ts';
import {
  confirmed,
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
  readonly concurrency: number;
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
   * @returns what it comes to; undefined where more could be tried
   */
  readonly advance: (inputs: number, until?: number) => Promise<Judgement | undefined>;
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
  const { known, draw, path, onEvent = ignore } = context;
  const cases = path === undefined ? property.draw(known, draw) : [property.drawAt(known, draw, path)];
  const distinct = evenly(withoutTwins(cases));
  const trials = createTrials();
  onEvent({ kind: 'planned', of: property.id, inputs: distinct.length });
  const judgement = () => {
    const tried = [...trials].toSorted(([a], [b]) => a - b);
    const isCut = trials.size < distinct.length;
    return { ...summarize(tried, path), ...(isCut ? { planned: distinct.length } : {}) };
  };
  return {
    judgement,
    planned: distinct.length,
    tried: () => trials.size,
    advance: async (inputs, until) => {
      const round = distinct
        .filter(({ index }) => !trials.has(index))
        .slice(0, inputs - trials.size)
        .toSorted((a, b) => a.index - b.index);
      let isCut = false;
      await inPool(round, context.concurrency, async ({ item, index }) => {
        const trial = await tryOut(item, property, context, property.fresh, until);
        const isLate = until !== undefined && isOutOfTime(trial);
        isCut ||= isLate;
        // What was under way with it has its answer all the same.
        if (!isLate) {
          trials.take(index, trial);
          tell(context, property, 'draw', index, item, trial);
        }
        return !isCut && trial.verdict.kind !== 'failed';
      });
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

const isOutOfTime = ({ verdict }: Trial) => verdict.kind === 'unjudged' && verdict.reason === 'budget';

/** In an order whose beginnings, however short, are spread evenly over the list. */
export function evenly<Item>(list: readonly Item[]): readonly Item[] {
  const bits = Math.ceil(Math.log2(Math.max(1, list.length)));
  return Array.from({ length: 2 ** bits }, (_, at) => {
    let place = 0;
    for (let bit = 0; bit < bits; bit++) place = place * 2 + ((at >> bit) & 1);
    return list[place];
  }).filter((item) => item !== undefined);
}

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
  const { known, draw, onEvent = ignore } = context;
  const once = async (stage: Stage, nth: number, candidate: Case) => {
    const next = await tryOut(candidate, property, context, true);
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
    onEvent({ kind: 'shrunk', of: property.id, path: shrunk.path });
    return { trial: smallest, path: shrunk.path };
  };
  return { trial, index, cases, shrink, ...(item.once ? {} : { again: () => once('confirm', index, item) }) };
}

/** Sends the requests of a case and judges the answers. */
async function tryOut(
  candidate: Case,
  property: Property,
  { courier }: PropertyContext,
  fresh: boolean,
  until?: number,
): Promise<Trial> {
  const terms = { of: property.id, ...(until === undefined ? {} : { until }) };
  const carry = (request: Request) =>
    fresh ? courier.deliver(request, terms) : courier.share(request, terms);
  const deliveries: Delivery[] = [];
  if (candidate.atOnce) deliveries.push(...(await Promise.all(candidate.requests.map(carry))));
  else for (const request of candidate.requests) deliveries.push(await carry(request));
  return trialOf(candidate, property, deliveries, courier.keyWorks());
}

function tell(
  { onEvent = ignore }: PropertyContext,
  { id }: Property,
  stage: Stage,
  nth: number,
  { input }: Case,
  { deliveries, keyWorks }: Trial,
): void {
  const known = keyWorks === undefined ? {} : { keyWorks };
  onEvent({ kind: 'trial', of: id, stage, nth, input, deliveries, ...known });
}

/** Each distinct case once, with its index in the draw. */
export function withoutTwins(
  cases: readonly Case[],
): readonly { readonly item: Case; readonly index: number }[] {
  const seen = new Set<string>();
  return cases.flatMap((item, index) => {
    const name = item.requests.map(fingerprint).join('\n');
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ item, index }];
  });
}
