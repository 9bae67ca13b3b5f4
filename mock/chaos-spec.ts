import { didYouMean } from '../schemas/problem.ts';
import { Problem } from '../schemas/problem.ts';
import type { ChaosCause, ChaosPlan, ChaosRule } from './chaos.ts';

/** Longest delay of an answer, in ms. */
const MOST_DELAY = 600_000;

/** How a plan is ordered: what keeps an answer from arriving goes before what spoils it, and a delay comes last. */
const precedence: Readonly<Record<ChaosCause['kind'], number>> = {
  reset: 0,
  timeout: 1,
  status: 2,
  truncate: 3,
  slow: 4,
};

type Wrong = (why: string) => Problem;

/**
 * A plan out of specs such as `500:0.1`, `reset:0.02`, `timeout`, `truncate:0.1`, `slow:2s` and
 * `slow:200ms..2s:0.5`: a kind, for `slow` a time, and a rate from 0 to 1, which is 1 where it is
 * left out. Where a request draws several, reset goes before timeout, then statuses in the order in
 * which they are given, truncate, slow.
 *
 * @throws Problem of code `usage`
 */
export function parseChaos(specs: readonly string[]): ChaosPlan {
  const plan = specs.map(parseSpec);
  const twice = plan.find(({ name }, index) => plan.findIndex((rule) => rule.name === name) !== index);
  if (twice !== undefined)
    throw new Problem('usage', `chaos ${twice.name}: is given twice; give it once, with one rate`);
  return plan.toSorted((one, other) => precedence[one.cause.kind] - precedence[other.cause.kind]);
}

/** One rule out of one spec. */
export function parseSpec(spec: string): ChaosRule {
  const [name = '', ...rest] = spec.split(':');
  const wrong: Wrong = (why) => new Problem('usage', `chaos ${spec}: ${why}`);
  const time = name === 'slow' ? rest.shift() : undefined;
  const cause = name === 'slow' ? slowCause(time, wrong) : plainCause(name, wrong);
  if (rest.length > 1)
    throw wrong(`there is more behind the rate; write ${name}:${time === undefined ? '' : `${time}:`}0.1`);
  return { name, rate: parseRate(rest[0], wrong), cause };
}

/** The spec that a rule comes from, or one that says the same. */
export function specOf({ name, rate, cause }: ChaosRule): string {
  const [least, most] = cause.kind === 'slow' ? [cause.leastMs, cause.mostMs] : [];
  const time = least === undefined ? '' : least === most ? `:${least}ms` : `:${least}ms..${most}ms`;
  return `${name}${time}${rate === 1 ? '' : `:${rate}`}`;
}

const spelled = ['reset', 'timeout', 'slow', 'truncate', '429', '500', '502', '503', '504'] as const;

function plainCause(name: string, wrong: Wrong): ChaosCause {
  if (name === 'reset' || name === 'timeout' || name === 'truncate') return { kind: name };
  if (/^(?:429|5\d\d)$/.test(name)) return { kind: 'status', status: Number(name) };
  // To a status that it is not, another one is no help.
  const near = /^\d{3}$/.test(name) ? '' : didYouMean(name, spelled);
  throw wrong(`there is no such kind${near} (kinds: 429, 500 to 599, reset, timeout, slow, truncate)`);
}

function slowCause(time: string | undefined, wrong: Wrong): ChaosCause {
  const times = (time ?? '').split('..').map(inMs);
  const [least, most] = [times[0], times.at(-1)];
  if (least === undefined || most === undefined || times.length > 2)
    throw wrong('say how slow, by a time of up to 10m or by two, such as slow:200ms or slow:200ms..2s');
  if (least > most) throw wrong('the shorter time comes first, as in slow:200ms..2s');
  return { kind: 'slow', leastMs: least, mostMs: most };
}

const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function inMs(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const delay = Number(amount) * (unitsInMs[unit] ?? Number.NaN);
  return delay <= MOST_DELAY ? delay : undefined;
}

function parseRate(text: string | undefined, wrong: Wrong): number {
  if (text === undefined) return 1;
  const rate = /^(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (rate >= 0 && rate <= 1) return rate;
  throw wrong('the rate has to be a number from 0 to 1, such as 0.1 for one request in ten');
}
