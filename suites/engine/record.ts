import type { Coverage, RequirementResult, RunRecord, Traffic } from '../../schemas/generated/types.ts';
import type { Redact } from '../../schemas/redact.ts';
import type { Known } from '../known.ts';
import type { Exchange, Requirement } from '../requirement.ts';
import type { Observation, Verdict } from '../verdict.ts';
import { recordExchange, redactor } from './evidence.ts';
import { countOutcomes, verdictOf } from './verdict-of-run.ts';

/** What a requirement came to. */
export interface Result {
  readonly verdict: Verdict | Observation | { readonly kind: 'broken'; readonly words: string };
  /** Distinct inputs that were judged. */
  readonly cases: number;
  readonly evidence?: Exchange;
  readonly path?: string;
  readonly where?: readonly string[];
  readonly intermittent?: { readonly failed: number; readonly of: number };
}

/** What a record says of the run, before anything was found. */
export interface RecordOptions {
  readonly known: Known;
  /** The `{base_url}` that was driven. */
  readonly target: string;
  readonly seed: number;
  /** Rows per endpoint, at most. */
  readonly cases: number;
  /** Strength that the verdict needs; none without it. */
  readonly minStrength?: number;
  readonly version: string;
  /** Sent with every request; their secrets are hidden like keys. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Command that repeats the run, without its filters and its seed. */
  readonly rerun?: string;
  readonly notes?: readonly string[];
  /** What the run is to check, where whoever starts it knows the whole catalogue. */
  readonly selection?: RunRecord['selection'];
}

/** What the engine counted. Times are ms. */
export interface Figures {
  readonly startedAt: number;
  readonly durationMs: number;
  readonly requests: number;
  readonly rateLimited: RunRecord['rateLimited'];
  readonly strength: number;
  /** Whether some lookups were not tried for want of time or requests. */
  readonly isCut: boolean;
  readonly coverage: Coverage;
  /** Whether the key under test was ever answered with anything but 401; undefined before it was used. */
  readonly keyWorks: boolean | undefined;
  /** Whether the run was stopped before its end. */
  readonly interrupted: boolean;
  /** The signal that stopped it, where it was one. */
  readonly interruptedBy?: string;
}

/** Puts everything that a run found into its record. No key appears in it by its value. */
export function makeRecord(
  options: RecordOptions,
  list: readonly RequirementResult[],
  figures: Figures,
  traffic: Traffic,
): RunRecord {
  const { known, target } = options;
  const { startedAt, keyWorks, interrupted, interruptedBy, isCut: _, ...rest } = figures;
  const redact = redactor(known, options.headers);
  const refused =
    keyWorks === false
      ? [
          `The target answers every request of ${known.callerKeys[0]?.name ?? 'the key'} with 401: is it the key of an active partner there?`,
        ]
      : [];
  const run = {
    ...(options.selection === undefined ? {} : { selection: options.selection }),
    ...(options.minStrength === undefined ? {} : { minStrength: options.minStrength }),
  };
  return {
    format: 'ib-conformance/run/1',
    version: options.version,
    verdict: verdictOf(list, { ...run, interrupted, strength: figures.strength }),
    target: redact(target),
    ...(known.partner === undefined ? {} : { partner: known.partner }),
    seed: options.seed,
    ...run,
    startedAt: new Date(startedAt).toISOString(),
    ...rest,
    cases: options.cases,
    interrupted,
    notes: [
      ...narrowedNote(options.selection, list.length),
      ...(options.notes ?? []),
      ...refused,
      ...limitNote(figures.rateLimited),
      ...(interrupted ? [`Interrupted${interruptedBy === undefined ? '' : ` by ${interruptedBy}`}.`] : []),
    ],
    ...(options.rerun === undefined ? {} : { rerun: redact(options.rerun) }),
    counts: countOutcomes(list),
    requirements: [...list],
    traffic,
  };
}

/** A verdict on a part must not be taken for one on the whole. */
function narrowedNote(selection: RecordOptions['selection'], count: number): readonly string[] {
  return selection === undefined || selection.whole
    ? []
    : [
        `Narrowed by --suite or --only: the verdict is on ${count} requirement${count === 1 ? '' : 's'}, not on all.`,
      ];
}

/** Says what limits a run met that the fixture does not state. */
function limitNote({ learned = [] }: Figures['rateLimited']): readonly string[] {
  if (learned.length === 0) return [];
  const limits = learned.map(
    ({ endpoint, requests, windowSeconds }) =>
      `${endpoint} about ${requests} in ${Math.round(windowSeconds)} s`,
  );
  return [
    `Rate limits as the 429 answers showed them: ${limits.join(', ')}. State the true ones under limits in the fixture, and a run keeps below them and judges the threshold. More active keys of the partner, or more --max-duration, make a deeper run.`,
  ];
}

/** Writes down what requirements came to, one at a time. */
export function createDescriber({ known, headers, seed, target }: RecordOptions): Describe {
  const redact = redactor(known, headers);
  return (requirement, result) => describe(requirement, result, seed, target, redact);
}

export type Describe = (requirement: Requirement, result: Result) => RequirementResult;

function describe(
  requirement: Requirement,
  result: Result,
  seed: number,
  target: string,
  redact: Redact,
): RequirementResult {
  const { id, level, clause, title, reading } = requirement;
  const { verdict, cases } = result;
  const subject = {
    id,
    level,
    clause,
    title,
    ...(reading === undefined ? {} : { reading }),
    cases,
  };
  const proof =
    result.evidence === undefined ? {} : { counterexample: recordExchange(result.evidence, target, redact) };
  const replay = result.path === undefined ? {} : { replay: { seed, path: result.path } };
  switch (verdict.kind) {
    case 'held':
      return { ...subject, outcome: 'passed' };
    case 'failed':
      return {
        ...subject,
        outcome: 'failed',
        aspect: redact(verdict.aspect),
        expected: redact(verdict.expected),
        actual: redact(verdict.actual),
        ...(result.where === undefined ? {} : { where: [...result.where] }),
        ...(result.intermittent === undefined ? {} : { intermittent: { ...result.intermittent } }),
        ...proof,
        ...replay,
      };
    case 'unjudged':
      return {
        ...subject,
        outcome: 'inconclusive',
        reason: verdict.reason,
        words: redact(verdict.words),
        ...proof,
        ...replay,
      };
    case 'excluded':
      return { ...subject, outcome: 'excluded', reason: verdict.reason, words: redact(verdict.words) };
    case 'broken':
      return { ...subject, outcome: 'broken', words: redact(verdict.words) };
    case 'observed':
      return {
        ...subject,
        outcome: 'observed',
        words: redact(verdict.words),
        ...(verdict.data === undefined ? {} : { data: redactData(verdict.data, redact) }),
      };
  }
}

/** Texts at any depth, and the names of members. */
function redactData(data: Record<string, unknown>, redact: Redact): Record<string, unknown> {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (Array.isArray(value)) return value.map(clean);
    return typeof value === 'object' && value !== null ? redactData({ ...value }, redact) : value;
  };
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [redact(name), clean(value)]));
}
