import type { RecordedExchange, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { OUR_BUG } from './console-findings.ts';
import { printable } from './printable.ts';
import { remedyOf } from './remedies.ts';
import { replayCommand } from './replay-command.ts';
import { count } from './units.ts';

/** Something that a result says, in printable text on one line. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** A text of the target or a command, to be read letter by letter; else prose. */
  readonly isExact: boolean;
}

/** Columns that are shown at most of prose and of the target's texts, and of a command. */
const MOST = 600;
const MOST_COMMAND = 20_000;

/** Columns of a label in a line of text. */
const LABEL = 13;

/** All that a result says beside its id, level and outcome: bounded, and safe to show anywhere but for the escapes of the format. */
export function factsOf(record: RunRecord, result: RequirementResult): readonly Fact[] {
  return [
    prose('title', result.title),
    prose('clause', result.clause),
    ...(result.reading === undefined ? [] : [prose('reading', result.reading)]),
    ...findingOf(result),
    ...proofOf(record, result),
  ];
}

function findingOf(result: RequirementResult): readonly Fact[] {
  switch (result.outcome) {
    case 'passed':
      return [];
    case 'failed':
      return [
        ...(isKnownFailure(result) ? [prose('known', result.baseline)] : []),
        prose('aspect', result.aspect),
        exact('expected', result.expected),
        exact('actual', result.actual),
      ];
    case 'inconclusive':
    case 'excluded': {
      const remedy = remedyOf(result.reason);
      return [
        prose('reason', `${result.reason}: ${result.words}`),
        ...(remedy === undefined ? [] : [prose('mended by', remedy)]),
      ];
    }
    case 'observed':
      return [prose('observed', result.words)];
    case 'broken':
      return [exact('error', result.words), prose('bug', OUR_BUG)];
  }
}

function proofOf(record: RunRecord, result: RequirementResult): readonly Fact[] {
  if (result.outcome !== 'failed' && result.outcome !== 'inconclusive') return [];
  const replay = replayCommand(record, result);
  return [
    ...(result.counterexample === undefined ? [] : exchangeFacts(result.counterexample)),
    ...(replay === undefined ? [] : [command('replay', replay)]),
  ];
}

function exchangeFacts({ curl, key, response, trouble }: RecordedExchange): readonly Fact[] {
  const asked = [
    command('request', curl),
    ...(key === undefined ? [] : [exact('key', `$IB_API_KEY stands for ${key}`)]),
  ];
  if (response === undefined)
    return [...asked, prose('answer', `none: ${trouble ?? 'no reason was recorded'}`)];
  const { status, headers, body } = response;
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return [
    ...asked,
    exact('answer', `${status}, ${type === undefined ? 'no content-type' : `content-type: ${type}`}`),
    exact('body', body === '' ? '(empty)' : body),
    ...(body.length > MOST ? [prose('shown', `the beginning of ${count(body.length)} characters`)] : []),
  ];
}

const prose = (label: string, text: string): Fact => ({ label, text: printable(text, MOST), isExact: false });
const exact = (label: string, text: string): Fact => ({ label, text: printable(text, MOST), isExact: true });
const command = (label: string, text: string): Fact => ({
  label,
  text: printable(text, MOST_COMMAND),
  isExact: true,
});

/** Facts as lines of text, their values one under the other. */
export function factLines(facts: readonly Fact[]): readonly string[] {
  return facts.map(({ label, text }) => label.padEnd(LABEL) + text);
}
