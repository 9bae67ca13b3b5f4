import type { Failed, Inconclusive, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { failsRun, isKnownFailure, judgementOf, isLowStrength, narrowingFlags } from './judgement.ts';
import type { Step } from './document.ts';
import { worstFirst } from './similar.ts';
import { compact, shellWord } from './text.ts';
import { byReason, fixes, fixOf } from './unverified.ts';

type Results = readonly RequirementResult[];

/** Reasons without a next step: another requirement fails first, or the user chose it. */
const minor: ReadonlySet<string> = new Set(['depends', 'not-compared', 'not-seen', 'skipped']);

/**
 * Returns the next step of the reader. Required requirements come first, then warnings, then excluded
 * requirements.
 */
export function nextStep(record: RunRecord): Step {
  const { requirements, counts, rerun = '', mock, baseline, targetLost, losses } = record;
  const lost = losses?.find(({ seconds }) => seconds === undefined);
  if (counts.broken > 0)
    return { words: 'report the bug of ib-conformance with its run record (--report json=run.json)' };
  const firstReason = (rows: Results, isMinor = false) => {
    const reasons = byReason(rows);
    return Object.keys(fixes).find((reason) => reasons.has(reason) && minor.has(reason) === isMinor);
  };
  const open = requirements.filter(({ outcome }) => outcome === 'inconclusive');
  // If the key is refused, no other result is meaningful.
  if (byReason(open).has('key-refused')) return stepFor(record, 'key-refused');
  for (const level of ['required', 'recommended', 'observed'] as const) {
    const isNew = (row: RequirementResult): row is Failed =>
      row.level === level && row.outcome === 'failed' && !isKnownFailure(row);
    const [worst] = worstFirst(requirements.filter(isNew));
    const failed = worst?.first;
    if (failed !== undefined && isKeyRefused(failed)) return stepFor(record, 'key-refused');
    const command = failed && compact(runCommand(record), replayFlag(record, failed)).join(' ');
    if (command) return { command };
    if (failed !== undefined) return { words: `fix ${failed.id}, and verify again` };
    if (targetLost === true) return stepFor(record, lost?.reason ?? 'outage');
    const reason = firstReason(open.filter((row) => row.level === level));
    if (reason !== undefined) return stepFor(record, reason);
    // What follows does not change the exit code.
    if (baseline !== undefined && baseline.wrong.length > 0)
      return { words: `correct ${baseline.file} as the lines above say` };
    if (judgementOf(record).ending === 'incomplete' && isLowStrength(record))
      return stepFor(record, 'budget');
  }
  if (mock === true) return { command: `${/^npx /.exec(rerun)?.[0] ?? ''}ib-conformance init` };
  const left = firstReason(requirements);
  if (left !== undefined) return stepFor(record, left);
  if (isLowStrength(record)) return stepFor(record, 'budget');
  const rest = firstReason(
    requirements.filter(({ level }) => level !== 'observed'),
    true,
  );
  if (rest !== undefined) return stepFor(record, rest);
  const flags = narrowingFlags(record).join(' and ');
  return {
    words: flags === '' ? 'nothing: everything was verified' : `repeat the run without ${flags}`,
  };
}

/** Whether a failure looks as if the target does not have the key: a 401 under any condition, where none is right. */
const isKeyRefused = ({ counterexample, expected, where = [] }: Failed): boolean =>
  counterexample?.response?.status === 401 && !expected.includes('401') && where.length === 0;

const ofDoctor = ({ doctor }: RunRecord) => doctor;
/** The report ends with what to add to the fixture; then the run is repeated. */
const afterAdditions = (record: RunRecord) =>
  record.requirements.some((row) => 'fix' in row) && !record.requirements.some((row) => failsRun(record, row))
    ? record.rerun
    : ofFixture(record);
/** `doctor` shows what a fixture lacks. It needs a fixture that can be changed. */
const ofFixture = ({ doctor = '' }: RunRecord) => (/ --fixture /.test(doctor) ? doctor : undefined);

/** Commands that show what to fix, by reason. */
const commands: Readonly<Record<string, (record: RunRecord) => string | undefined>> = {
  interrupted: runCommand,
  'key-refused': ofDoctor,
  'state-hook': ofDoctor,
  'no-second-key': afterAdditions,
  'no-fixture': afterAdditions,
};

function stepFor(record: RunRecord, reason: string): Step {
  const further = reason === 'budget' || reason === 'rate-limited' ? furtherRun(record, reason) : undefined;
  if (further !== undefined) return { words: further };
  const command = commands[reason]?.(record);
  return command === undefined ? { words: fixOf(reason)! } : { command };
}

/** The default of --max-duration, in minutes: more than it is enough. */
const DEFAULT_MINUTES = 5;
/** A green run need not be repeated for longer. */
const MOST_MINUTES = 15;

/** How to repeat the run so that it gets further: without a bound that ended it, or with a larger one. */
function furtherRun(record: RunRecord, reason: string): string {
  const { needs = [], durationMs, rerun = '', requirements } = record;
  const isOverBy = (bound: string) =>
    requirements.some((one) => 'words' in one && one.words.startsWith(`${bound} was reached`));
  if (isOverBy('--max-requests')) return 'repeat the run without --max-requests, or with a larger one';
  const isOverTime = reason === 'rate-limited' || isOverBy('--max-duration');
  if (!isOverTime && / --cases \d/.test(rerun)) return 'repeat the run without --cases';
  const seconds = Math.max(needs.at(-1)?.seconds ?? 0, (2 * durationMs) / 1000);
  const minutes = Math.max(DEFAULT_MINUTES + 1, Math.ceil(seconds / 60));
  return judgementOf(record).isGreen && minutes > MOST_MINUTES
    ? `nothing: a run of ${minutes} minutes would try more combinations`
    : `repeat the run with --max-duration ${minutes}m`;
}

/** The command that repeats the run, with the same inputs. Undefined if the record does not have it. */
export function runCommand({ rerun, seed }: RunRecord): string | undefined {
  return rerun && `${rerun} --seed ${seed}`;
}

/**
 * What to add to the command of the run to check one requirement again: with the failed input if the record has its
 * path. Undefined if there is no command, if it is a replay itself, or if it failed for some time only.
 */
export function replayFlag(record: RunRecord, result: Failed | Inconclusive): string | undefined {
  const { id, replay } = result;
  const isOver =
    result.outcome === 'failed' && (result.during !== undefined || result.since?.untilSeconds !== undefined);
  if (record.rerun === undefined || record.selection?.replay !== undefined) return undefined;
  if (isOver) return undefined;
  return `--replay ${shellWord(compact(id, replay?.path).join(' '))}`;
}
