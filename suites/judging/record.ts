import type { Failed, RequirementResult, RunRecord, TriedStream } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/values.ts';
import type { Known } from '../known.ts';
import { rankOf, type Requirement, type Share } from '../rules/requirement.ts';
import { pathOf, type Lookup } from '../plan/lookup.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import type { Observation, Verdict } from '../rules/verdict.ts';
import type { Since } from './course.ts';
import { recordExchange, redactedAll, redactor, withSent } from './evidence.ts';

export interface Separation {
  readonly with?: Share;
  readonly without?: readonly (Share & { readonly condition: string })[];
  /** Values that fail and values that pass, if only some fail. */
  readonly ids?: { readonly failing: readonly string[]; readonly passing: readonly string[] };
}

/** The result of a requirement. */
export interface Result {
  readonly verdict: Verdict | Observation | { readonly kind: 'broken'; readonly words: string };
  /** Distinct inputs that were judged. */
  readonly cases: number;
  readonly evidence?: Exchange;
  /** The lookup that shows it. Its path replays it, with the same seed. */
  readonly lookup?: Lookup | undefined;
  /** The conditions under which it fails. */
  readonly where?: readonly string[];
  /** How many new lookups failed with all of `where`, and without each. */
  readonly separation?: Separation;
  /** The mistake that explains all wrong values. */
  readonly cause?: string | undefined;
  /** How many of `of` equal lookups failed, if not all did. */
  readonly intermittent?: Share;
  /** The same, also if all did. */
  readonly repeats?: Share;
  /** Since when it fails, if it did not from the start. */
  readonly since?: Since | undefined;
  /** How a limit was tried. */
  readonly trial?: TriedStream[] | undefined;
  /** Set if the run had to end before its smallest lookup and its conditions were found. */
  readonly unexplained?: true | undefined;
}

/** The part of a record that is known before the run. */
export interface RecordOptions extends Readonly<
  Pick<RunRecord, 'target' | 'seed' | 'cases' | 'version' | 'rerun' | 'doctor' | 'selection' | 'mock'>
> {
  readonly known: Known;
  /** Sent with every request. Their secrets are redacted like keys. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
}

type Counted = 'durationMs' | 'requests' | 'rateLimited' | 'strength' | 'coverage' | 'interrupted';

/** Figures of a run. Times are in ms. */
export interface Figures extends Readonly<
  Required<Pick<RunRecord, Counted>> &
    Pick<RunRecord, 'needs' | 'targetLost' | 'losses' | 'waits' | 'timeline'>
> {
  readonly startedAt: number;
  /** Whether the key under test was ever accepted; undefined before it was used. */
  readonly keyWorks: boolean | undefined;
  /** Whether the target refuses a traceparent. */
  readonly isUntraced?: boolean;
  /** The signal that stopped the run, such as SIGINT. */
  readonly interruptedBy?: string;
}

/** Builds the record of a run. Keys are redacted. */
export function makeRecord(
  options: RecordOptions,
  list: readonly RequirementResult[],
  figures: Figures,
): RunRecord {
  const { known, version, seed, cases, selection, rerun, doctor, mock } = options;
  const { startedAt, keyWorks, interrupted, interruptedBy, isUntraced = false, ...rest } = figures;
  const redact = redactor(known, options.headers);
  return {
    format: 'ib-conformance/run/1',
    version,
    verdict: verdictOf(list, figures),
    target: redact(options.target),
    ...defined({ mock, partner: known.partner }),
    seed,
    ...defined({ selection }),
    startedAt: new Date(startedAt).toISOString(),
    ...rest,
    cases,
    interrupted,
    notes: [
      ...(options.notes ?? []),
      ...(keyWorks === false ? [refusedNote(known.callerKeys[0]?.name ?? 'the key')] : []),
      ...(isUntraced ? [UNTRACED] : []),
      ...(interrupted ? [`Interrupted${interruptedBy === undefined ? '' : ` by ${interruptedBy}`}.`] : []),
    ],
    ...defined({ rerun: rerun && redact(rerun), doctor: doctor && redact(doctor) }),
    counts: countOutcomes(list),
    requirements: [...list],
  };
}

const UNTRACED =
  'The target refuses requests with the header field traceparent, so that they were sent without it.';

const refusedNote = (key: string) =>
  `The target answers every request with ${key} with 401. Check that the target has this key and that it is active.`;

const inSeconds = (
  { rightBefore, lastRightAt, wrongAt, fromRequest, until }: Since,
  startedAt: number,
): NonNullable<Failed['since']> => ({
  rightBefore,
  lastRightSeconds: (lastRightAt - startedAt) / 1000,
  fromRequest,
  fromSeconds: (wrongAt - startedAt) / 1000,
  ...(until && { untilSeconds: (until.at - startedAt) / 1000, rightAfter: until.rightAfter }),
});

/** Returns a function that turns a result into its entry in the record. @param startedAt in ms of the clock */
export function createDescriber({ known, headers, seed, target }: RecordOptions, startedAt: number) {
  const redactKeys = redactor(known, headers);
  return (requirement: Requirement, result: Result): RequirementResult => {
    const { id, level, clause, title, reading } = requirement;
    const { verdict, cases, evidence, lookup, where, cause, separation, intermittent } = result;
    const { since, unexplained, repeats, trial } = result;
    const redact = evidence === undefined ? redactKeys : withSent(redactKeys, evidence.request);
    const { kind, reason, ...texts } = { reason: undefined, ...verdict };
    const isOpen = kind === 'failed' || kind === 'inconclusive';
    return {
      ...defined({
        id,
        level,
        rank: rankOf(requirement),
        clause,
        title,
        reading,
        cases,
        outcome: kind,
        reason,
        trial,
      }),
      ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, redactedAll(text, redact)])),
      ...(kind === 'failed' &&
        defined({
          where,
          cause,
          separation: redactedAll(separation, redact),
          intermittent,
          repeats,
          since: since && inSeconds(since, startedAt),
          unexplained,
        })),
      ...(isOpen && evidence && { counterexample: recordExchange(evidence, target, redact, known) }),
      // What came and went cannot be shown again.
      ...(isOpen &&
        lookup !== undefined &&
        since?.until === undefined && { replay: { seed, path: pathOf(lookup) } }),
    } as RequirementResult;
  };
}

/**
 * The verdict of a run. Excluded requirements do not count, and neither does the strength.
 *
 * - `nonconformant`: a required requirement failed.
 * - `incomplete`: a required one is inconclusive, one is broken, none passed, or the run was interrupted or lost the
 *   target.
 * - `conformant`: otherwise.
 */
export function verdictOf(
  results: readonly RequirementResult[],
  { interrupted, targetLost = false }: Pick<RunRecord, 'interrupted' | 'targetLost'>,
): RunRecord['verdict'] {
  const required = results.filter(({ level }) => level === 'required');
  if (required.some(({ outcome }) => outcome === 'failed')) return 'nonconformant';
  if (interrupted || targetLost || results.some(({ outcome }) => outcome === 'broken')) return 'incomplete';
  // A comparison of a limiter may take longer than a run.
  const isOpen = (one: RequirementResult) => one.outcome === 'inconclusive' && one.reason !== 'not-compared';
  if (required.some(isOpen)) return 'incomplete';
  return required.some(({ outcome }) => outcome === 'passed') ? 'conformant' : 'incomplete';
}

/** Counts requirements by outcome, and by level where it matters. */
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
