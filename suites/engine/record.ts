import type { RequirementResult, RunRecord, Traffic } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/defined.ts';
import type { Known } from '../known.ts';
import type { Exchange, Requirement } from '../requirement.ts';
import type { Observation, Verdict } from '../verdict.ts';
import { recordExchange, redactedAll, redactor } from './evidence.ts';

/** What a requirement came to. */
export interface Result {
  readonly verdict: Verdict | Observation | { readonly kind: 'broken'; readonly words: string };
  /** Distinct inputs that were judged. */
  readonly cases: number;
  readonly evidence?: Exchange;
  /** Leads to the input again, with the same seed. */
  readonly path?: string;
  /** The conditions under which it fails. */
  readonly where?: readonly string[];
  /** How many of so many equal lookups failed, if not all did. */
  readonly intermittent?: { readonly failed: number; readonly of: number };
}

/** What a record says of the run, before anything was found. */
export interface RecordOptions extends Readonly<
  Pick<RunRecord, 'target' | 'seed' | 'cases' | 'version' | 'minStrength' | 'rerun' | 'selection' | 'mock'>
> {
  readonly known: Known;
  /** Sent with every request; their secrets are hidden like keys. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
}

type Counted = 'durationMs' | 'requests' | 'rateLimited' | 'strength' | 'coverage' | 'interrupted';

/** What the engine counted. Times are ms. */
export interface Figures extends Readonly<Required<Pick<RunRecord, Counted>> & Pick<RunRecord, 'canary'>> {
  readonly startedAt: number;
  /** Whether some lookups were not tried for want of time or requests. */
  readonly isCut: boolean;
  /** Whether the key under test was ever answered with anything but 401; undefined before it was used. */
  readonly keyWorks: boolean | undefined;
  /** The signal that stopped the run, where it was one. */
  readonly interruptedBy?: string;
}

/** Puts everything that a run found into its record. No key appears in it by its value. */
export function makeRecord(
  options: RecordOptions,
  list: readonly RequirementResult[],
  figures: Figures,
  traffic: Traffic,
): RunRecord {
  const { known, version, seed, cases, selection, minStrength, rerun, mock } = options;
  const { startedAt, keyWorks, interrupted, interruptedBy, isCut: _, ...rest } = figures;
  const redact = redactor(known, options.headers);
  const run = defined({ selection, minStrength });
  return {
    format: 'ib-conformance/run/1',
    version,
    verdict: verdictOf(list, { ...run, interrupted, strength: figures.strength }),
    target: redact(options.target),
    ...defined({ mock, partner: known.partner }),
    seed,
    ...run,
    startedAt: new Date(startedAt).toISOString(),
    ...rest,
    cases,
    interrupted,
    notes: [
      ...(options.notes ?? []),
      ...(keyWorks === false ? [refusedNote(known.callerKeys[0]?.name ?? 'the key')] : []),
      ...limitNote(figures.rateLimited),
      ...(interrupted ? [`Interrupted${interruptedBy === undefined ? '' : ` by ${interruptedBy}`}.`] : []),
    ],
    ...defined({ rerun: rerun && redact(rerun) }),
    counts: countOutcomes(list),
    requirements: [...list],
    traffic,
  };
}

const refusedNote = (key: string) =>
  `The target answers every request with ${key} with 401. Check that the target has this key and that it is active.`;

/** Says what limits a run met that the fixture does not state. */
function limitNote({ learned = [] }: Figures['rateLimited']): readonly string[] {
  if (learned.length === 0) return [];
  const limits = learned.map(
    ({ endpoint, requests, windowSeconds }) =>
      `${endpoint} about ${requests} in ${Math.round(windowSeconds)} s`,
  );
  return [
    `Rate limits, as seen from 429 answers: ${limits.join(', ')}. State the real ones under limits in the fixture: then a run stays below them and checks the threshold. To check more, add active keys of the partner or raise --max-duration.`,
  ];
}

export type Describe = (requirement: Requirement, result: Result) => RequirementResult;

const outcomes = {
  held: 'passed',
  failed: 'failed',
  unjudged: 'inconclusive',
  excluded: 'excluded',
  broken: 'broken',
  observed: 'observed',
} as const;

/** Writes down what requirements came to, one at a time. */
export function createDescriber({ known, headers, seed, target }: RecordOptions): Describe {
  const redact = redactor(known, headers);
  return ({ id, level, clause, title, reading }, { verdict, cases, evidence, path, where, intermittent }) => {
    const { kind, reason, ...texts } = { reason: undefined, ...verdict };
    const isOpen = kind === 'failed' || kind === 'unjudged';
    return {
      ...defined({ id, level, clause, title, reading, cases }),
      outcome: outcomes[kind],
      ...defined({ reason }),
      ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, redactedAll(text, redact)])),
      ...(kind === 'failed' ? defined({ where, intermittent }) : {}),
      ...(isOpen && evidence ? { counterexample: recordExchange(evidence, target, redact) } : {}),
      ...(isOpen && path !== undefined ? { replay: { seed, path } } : {}),
    } as RequirementResult;
  };
}

/** What a verdict rests on, apart from the results. */
type Run = Pick<RunRecord, 'interrupted' | 'strength' | 'minStrength' | 'selection'>;

/**
 * The verdict over a run: nonconformant if a required requirement failed; else incomplete if one is
 * inconclusive or anything is broken, none was verified, or the run did not come to its end or not to the
 * strength that it needs; else conformant. Excluded ones change nothing.
 */
export function verdictOf(results: readonly RequirementResult[], run: Run): RunRecord['verdict'] {
  const required = results.filter(({ level }) => level === 'required');
  if (required.some(({ outcome }) => outcome === 'failed')) return 'nonconformant';
  if (run.interrupted || isTooWeak(run) || results.some(({ outcome }) => outcome === 'broken'))
    return 'incomplete';
  if (required.some(({ outcome }) => outcome === 'inconclusive')) return 'incomplete';
  return required.some(({ outcome }) => outcome === 'passed') ? 'conformant' : 'incomplete';
}

/** Only a whole run is asked for a strength: one that was narrowed leaves lookups out on purpose. */
function isTooWeak({ strength, minStrength = 0, selection }: Run): boolean {
  if (strength === undefined || selection?.whole !== true || selection.replay !== undefined) return false;
  return strength < minStrength && (selection.skip.length === 0 || minStrength > 1);
}

/** How many there are of each outcome, by level where the level matters. */
export function countOutcomes(results: readonly RequirementResult[]): RunRecord['counts'] {
  const count = (outcome: RequirementResult['outcome'], level?: RequirementResult['level']) =>
    results.filter((result) => result.outcome === outcome && (level === undefined || result.level === level))
      .length;
  const judged = (level: 'required' | 'recommended') => ({
    passed: count('passed', level),
    failed: count('failed', level),
    inconclusive: count('inconclusive', level),
  });
  return {
    required: judged('required'),
    recommended: judged('recommended'),
    observed: results.filter(
      ({ level, outcome }) => level === 'observed' && outcome !== 'excluded' && outcome !== 'broken',
    ).length,
    excluded: count('excluded'),
    broken: count('broken'),
  };
}
