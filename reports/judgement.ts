import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { contradictionRemark } from './limits.ts';
import { describeStrength, isLowStrength, lacksLevels, narrowedBy } from './strength.ts';
import { compact, plural, type Tone } from './text.ts';

/** How a run ended. Each ending has its own exit code. */
export type Ending = 'conformant' | 'nonconformant' | 'incomplete' | 'bug' | 'interrupted';

/** The judgement on a run, which every output shows. */
export interface Judgement {
  readonly ending: Ending;
  /** Whether the exit code is 0. */
  readonly isGreen: boolean;
  /** `conformant: 53 of 55 required verified, 20 of 22 recommended` */
  readonly headline: string;
  readonly mark: string;
  readonly emoji: string;
  readonly tone: Tone;
}

/** The flags that make a run pass or fail. */
export interface Strictness {
  readonly strict: boolean;
  readonly allowIncomplete: boolean;
}

type Verdict = RunRecord['verdict'];
type Rows = readonly RequirementResult[];

const styles = {
  conformant: { mark: '✓', emoji: '✅', tone: 'good' },
  nonconformant: { mark: '✗', emoji: '❌', tone: 'bad' },
  incomplete: { mark: '?', emoji: '❓', tone: 'unsure' },
  bug: { mark: '!', emoji: '❗', tone: 'ours' },
  interrupted: { mark: '?', emoji: '❓', tone: 'unsure' },
} as const satisfies Record<Ending, unknown>;

/** Returns the record with the flags that it is judged by. `strict` changes its verdicts. */
export function judgedBy(record: RunRecord, { strict, allowIncomplete }: Strictness): RunRecord {
  if (!strict) return { ...record, strict, allowIncomplete };
  const advice = record.requirements.filter(
    ({ level, outcome }) => level === 'recommended' && outcome === 'failed',
  );
  const strictly = (verdict: Verdict, failed: Rows): Verdict => {
    if (failed.length > 0) return 'nonconformant';
    return verdict === 'conformant' && lacksLevels(record) ? 'incomplete' : verdict;
  };
  const { baseline } = record;
  const failed = advice.filter((row) => !isKnownFailure(row));
  return {
    ...record,
    strict,
    allowIncomplete,
    verdict: strictly(record.verdict, advice),
    ...(baseline && { baseline: { ...baseline, verdict: strictly(baseline.verdict, failed) } }),
  };
}

/** Whether a result makes the exit code 1. */
export const failsRun = ({ strict }: Pick<RunRecord, 'strict'>, row: RequirementResult): boolean =>
  row.outcome === 'failed' &&
  !isKnownFailure(row) &&
  (row.level === 'required' || (strict === true && row.level === 'recommended'));

/** The outcome of a result in words: `passed`, `failed (--strict)`, `failed (warning only)`. */
export function outcomeWords(record: Pick<RunRecord, 'strict'>, row: RequirementResult): string {
  if (row.outcome !== 'failed') return row.outcome;
  if (isKnownFailure(row)) return 'failed (known)';
  if (!failsRun(record, row)) return 'failed (warning only)';
  return row.level === 'required' ? 'failed' : 'failed (--strict)';
}

/** Judges a run. Exit code, headline and all reports come from here. */
export function judgementOf(record: RunRecord): Judgement {
  const ending = endingOf(record);
  const isExcused = ending === 'conformant' && verdictIn(record) !== 'conformant';
  const isKnown = ending === 'conformant' && record.verdict !== 'conformant';
  return {
    ending,
    isGreen: ending === 'conformant',
    headline: `${verdictWords(record, isExcused)}: ${numbersOf(record)}`,
    ...styles[ending],
    ...(isKnown && { tone: 'warning' }),
  };
}

const verdictIn = ({ verdict, baseline }: RunRecord): Verdict =>
  baseline !== undefined && baseline.wrong.length > 0 ? 'nonconformant' : (baseline?.verdict ?? verdict);

function endingOf(record: RunRecord): Ending {
  if (record.interrupted) return 'interrupted';
  if (record.counts.broken > 0) return 'bug';
  const verdict = verdictIn(record);
  const isExcused = record.allowIncomplete === true && record.counts.required.passed > 0;
  return verdict === 'incomplete' && isExcused ? 'conformant' : verdict;
}

/** `nonconformant (--strict; narrowed by --only)` */
function verdictWords(record: RunRecord, isExcused: boolean): string {
  const { verdict, baseline, requirements, interrupted, requests, counts } = record;
  const shown = verdictIn(record);
  const failing = requirements.filter((row) => failsRun(record, row));
  const isShort = !interrupted && shown !== 'nonconformant' && isLowStrength(record);
  const isStrict =
    record.strict === true &&
    (failing.length > 0
      ? failing.every(({ level }) => level !== 'required')
      : shown === 'incomplete' && lacksLevels(record));
  const remarks = compact(
    isStrict && '--strict',
    baseline !== undefined && baseline.wrong.length > 0 && 'the baseline is wrong',
    isExcused && 'accepted by --allow-incomplete',
    narrowedBy(record),
    isShort && describeStrength(record),
    contradictionRemark(record),
    counts.broken > 0 && 'a bug of ib-conformance',
  );
  const remark = remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
  const known = requirements.filter(isKnownFailure).length;
  const but = shown === verdict || known === 0 ? '' : ` but for ${plural(known, 'known failure')}`;
  const stopped = interrupted ? `, interrupted after ${plural(requests, 'request')}` : '';
  return `${shown}${but}${stopped}${remark}`;
}

/** `2 of 7 required failed, 1 verified, 1 of 3 recommended` */
function numbersOf(record: RunRecord): string {
  const at = (level: RequirementResult['level']) => record.requirements.filter((row) => row.level === level);
  const countOf = (wanted: RequirementResult['outcome'], rows: Rows) =>
    rows.filter(({ outcome }) => outcome === wanted).length;
  const [required, recommended] = [at('required'), at('recommended')];
  const [verified, failed] = [countOf('passed', required), countOf('failed', required)];
  const advice = recommended.filter((row) => failsRun(record, row)).length;
  const numbers = compact(
    failed > 0 && `${failed} of ${required.length} required failed, ${verified} verified`,
    failed === 0 && required.length > 0 && `${verified} of ${required.length} required verified`,
    advice > 0 && `${advice} of ${recommended.length} recommended failed`,
    advice === 0 &&
      recommended.length > 0 &&
      `${countOf('passed', recommended)} of ${recommended.length} recommended`,
  );
  return numbers.length > 0 ? numbers.join(', ') : 'nothing was checked';
}
