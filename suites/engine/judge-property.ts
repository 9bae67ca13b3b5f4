import type { Answer, Trouble } from '../answer.ts';
import type { Known } from '../known.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Case, Draw, Property } from '../requirement.ts';
import { unjudged, type Verdict } from '../verdict.ts';
import type { Courier, Delivery } from './courier.ts';
import { inPool } from './pool.ts';

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
interface Trial {
  readonly verdict: Verdict;
  readonly deliveries: readonly Delivery[];
}

type Failure = Verdict & { readonly kind: 'failed' };

export interface PropertyContext {
  readonly known: Known;
  readonly courier: Courier;
  readonly draw: Draw;
  readonly concurrency: number;
  /** Judge only the input that this path leads to. */
  readonly path?: string;
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
  const { known, draw, path } = context;
  const cases = path === undefined ? property.draw(known, draw) : [property.drawAt(known, draw, path)];
  const distinct = evenly(withoutTwins(cases));
  const trials = new Map<number, Trial>();
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
        if (!isLate) trials.set(index, trial);
        return !isCut && trial.verdict.kind !== 'failed';
      });
      const failure = round.find(({ index }) => trials.get(index)?.verdict.kind === 'failed');
      if (failure === undefined) return isCut || trials.size < distinct.length ? undefined : judgement();
      const { item, index } = failure;
      const trial = trials.get(index)!;
      return path === undefined
        ? confirm(property, context, item, index, trial, trials.size)
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

async function confirm(
  property: Property,
  context: PropertyContext,
  failing: Case,
  index: number,
  trial: Trial,
  cases: number,
): Promise<Judgement> {
  if (failing.once) return { ...judgementOf(trial, cases), path: String(index) };
  const again = await tryOut(failing, property, context, true);
  if (again.verdict.kind === 'unjudged' && again.verdict.reason !== 'depends')
    return { ...judgementOf(again, cases), path: String(index) };
  if (again.verdict.kind !== 'failed') {
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
  const tried = new Map<Case, Trial>();
  const shrunk = await property.shrink(context.known, context.draw, index, async (candidate) => {
    const next = await tryOut(candidate, property, context, true);
    tried.set(candidate, next);
    return next.verdict;
  });
  const smallest = (shrunk && tried.get(shrunk.candidate)) ?? again;
  return { ...judgementOf(smallest, cases), path: shrunk?.path ?? String(index) };
}

/** Sends the requests of a case and judges the answers. */
async function tryOut(
  candidate: Case,
  property: Property,
  { courier }: PropertyContext,
  fresh: boolean,
  until?: number,
): Promise<Trial> {
  const terms = until === undefined ? {} : { until };
  const carry = (request: Request) =>
    fresh ? courier.deliver(request, terms) : courier.share(request, terms);
  const deliveries: Delivery[] = [];
  if (candidate.atOnce) deliveries.push(...(await Promise.all(candidate.requests.map(carry))));
  else for (const request of candidate.requests) deliveries.push(await carry(request));
  return { verdict: verdictOn(candidate, property, deliveries, courier), deliveries };
}

function verdictOn(
  candidate: Case,
  property: Property,
  deliveries: readonly Delivery[],
  courier: Courier,
): Verdict {
  const replies = deliveries.map(({ reply }) => reply);
  const trouble = replies.find((reply) => reply.kind === 'trouble');
  if (trouble !== undefined) return onTrouble(candidate, trouble);
  const verdict = candidate.judge(replies as readonly Answer[]);
  if (
    verdict.kind === 'failed' &&
    !property.provesKey &&
    isRefusal(deliveries, verdict.at) &&
    courier.keyWorks() === false
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

function judgementOf({ verdict, deliveries }: Trial, cases: number): Judgement {
  const at =
    verdict.kind === 'failed' ? verdict.at : deliveries.findIndex(({ reply }) => reply.kind === 'trouble');
  const evidence = deliveries[at === undefined || at < 0 ? 0 : at];
  return { verdict, cases, ...(evidence === undefined ? {} : { evidence }) };
}

/** Nothing failed: it holds if anything was judged and nothing that should have been is missing. */
function summarize(trials: readonly (readonly [number, Trial])[], path: string | undefined): Judgement {
  const cases = trials.filter(([, { verdict }]) => verdict.kind === 'held').length;
  const gap = trials.find(([, { verdict }]) => verdict.kind === 'unjudged' && verdict.reason !== 'depends');
  const rest = gap ?? (cases > 0 ? undefined : trials[0]);
  if (trials.length === 0)
    return { verdict: unjudged('budget', 'time or requests were used up before its turn came'), cases };
  if (rest === undefined) return { verdict: { kind: 'held' }, cases };
  return { ...judgementOf(rest[1], cases), path: path ?? String(rest[0]) };
}
