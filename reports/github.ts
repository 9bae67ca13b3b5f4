import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { conclusion } from './conclusion.ts';
import { factLines, factsOf } from './facts.ts';
import { printable } from './printable.ts';

/** Annotations of a kind that GitHub shows of a step; further ones are lost. */
const MOST_SHOWN = 10;

/** Annotations of what is wrong with a baseline, at most. */
const MOST_WRONG = 3;

/** Columns of an id, and of a sentence, at most. */
const MOST_ID = 300;
const MOST_SENTENCE = 2_000;

/** What stands in an annotation, in this order; the rest is in the other reports. */
const told: ReadonlySet<string> = new Set(
  'title known aspect expected actual reason error request replay bug'.split(' ').concat('mended by'),
);

/**
 * Commands to GitHub Actions, a line each: an error for each required requirement that failed and for
 * our own bugs, a warning for what is recommended and failed, and for what could not be judged, and
 * what the run comes to as a notice. What is wrong with the baseline is an error, what it knows a warning. GitHub shows ten of a kind: the weightiest come first, and the
 * tenth counts the rest.
 */
export function renderGithub(record: RunRecord): string {
  const { requirements } = record;
  const at = (level: RequirementResult['level'], outcome: RequirementResult['outcome']) =>
    requirements.filter(
      (result) => result.level === level && result.outcome === outcome && !isKnownFailure(result),
    );
  const errors = [...at('required', 'failed'), ...requirements.filter(({ outcome }) => outcome === 'broken')];
  const warnings = [
    ...at('required', 'inconclusive'),
    ...at('recommended', 'failed'),
    ...at('observed', 'failed'),
    ...at('recommended', 'inconclusive'),
    ...requirements.filter(isKnownFailure),
  ];
  const wrong = wrongWords(record);
  const [headline, ...rest] = conclusion(record);
  const suspicions = (record.diagnosis ?? []).map(({ fault, what }) => `looks like ${fault}: ${what}`);
  return [
    ...wrong.map((words) => command('error', 'baseline', [printable(words, MOST_SENTENCE)])),
    ...annotations('error', record, errors, MOST_SHOWN - wrong.length),
    ...annotations('warning', record, warnings, MOST_SHOWN),
    command(
      'notice',
      `ib-conformance: ${printable(headline, MOST_SENTENCE)}`,
      sentences([...rest, ...suspicions]),
    ),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** What is wrong with the baseline, which fails the run; more of it than leaves room for others in one. */
function wrongWords({ baseline }: RunRecord): readonly string[] {
  const wrong = baseline?.wrong ?? [];
  return wrong.length > MOST_WRONG ? [wrong.join('; ')] : wrong;
}

type Kind = 'error' | 'warning' | 'notice';

function annotations(
  kind: Kind,
  record: RunRecord,
  results: readonly RequirementResult[],
  most: number,
): readonly string[] {
  const shown = results.length > most ? results.slice(0, most - 1) : results;
  const more = results.slice(shown.length).map(({ id }) => printable(id, MOST_ID));
  return [
    ...shown.map((result) =>
      command(
        kind,
        titleOf(result),
        factLines(factsOf(record, result).filter(({ label }) => told.has(label))),
      ),
    ),
    ...(more.length === 0
      ? []
      : [command(kind, `${more.length} more`, [printable(more.join(', '), MOST_SENTENCE)])]),
  ];
}

/** `failed: auth/user-status/missing`, with the level where it is not required. */
function titleOf(result: RequirementResult): string {
  const { id, level, outcome } = result;
  const known = isKnownFailure(result) ? 'known, ' : '';
  return `${known}${level === 'required' ? '' : `${level}, `}${outcome}: ${printable(id, MOST_ID)}`;
}

const sentences = (texts: readonly string[]) =>
  texts.length === 0 ? ['all was verified'] : texts.map((text) => printable(text, MOST_SENTENCE));

/** A workflow command: one line, whatever is in it. */
function command(kind: Kind, title: string, lines: readonly string[]): string {
  return `::${kind} title=${property(title)}::${data(lines.join('\n'))}`;
}

/** What GitHub decodes again in the message of a command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** And in a property of one. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
