import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { byFix, factLines, factsOf } from './results.ts';
import { compact, printable } from './text.ts';
import { conclusion } from './verdict.ts';

/** GitHub's limit for annotations of a kind per step. It drops more. */
const MAX_SHOWN = 10;
const MAX_WRONG = 3;
const MAX_ID = 300;
const MAX_SENTENCE = 2_000;

const labels: ReadonlySet<string> = new Set(
  'fails when,tried,intermittent,title,known,aspect,expected,actual,reason,fix,error,request,replay,bug'.split(
    ',',
  ),
);

type Kind = 'error' | 'warning' | 'notice';

/**
 * Renders workflow commands for GitHub Actions, one per line: errors for required failures and our own bugs,
 * warnings for known failures, recommended failures and unjudged requirements, and a notice with the
 * conclusion. GitHub shows ten of a kind: the most important come first, and the tenth counts the rest.
 */
export function renderGithub(record: RunRecord): string {
  const { requirements, baseline, notes } = record;
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
  const mistakes = baseline?.wrong ?? [];
  const wrong = mistakes.length > MAX_WRONG ? [mistakes.join('; ')] : mistakes;
  const [headline, ...sentences] = conclusion(record);
  const remarks = [...sentences, ...notes.map((note) => `note: ${note}`)];
  const lines = [
    ...wrong.map((words) => command('error', 'baseline', [printable(words, MAX_SENTENCE)])),
    ...annotations('error', record, errors, MAX_SHOWN - wrong.length),
    ...annotations('warning', record, warnings, MAX_SHOWN),
    command(
      'notice',
      `ib-conformance: ${printable(headline, MAX_SENTENCE)}`,
      remarks.length === 0
        ? ['every selected requirement was verified']
        : remarks.map((text) => printable(text, MAX_SENTENCE)),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function annotations(kind: Kind, record: RunRecord, results: readonly RequirementResult[], most: number) {
  const groups = byFix(results);
  const shown = groups.length > most ? groups.slice(0, most - 1) : groups;
  const more = groups.slice(shown.length).flatMap(({ first, rest }) => idsOf([first, ...rest]));
  return compact(
    ...shown.map(({ first, rest }) => {
      const facts = factsOf(record, first).filter(({ label }) => labels.has(label));
      const others = `and ${rest.length} more like this: ${printable(idsOf(rest).join(', '), MAX_SENTENCE)}`;
      return command(kind, titleOf(first), compact(...factLines(facts), rest.length > 0 && others));
    }),
    more.length > 0 && command(kind, `${more.length} more`, [printable(more.join(', '), MAX_SENTENCE)]),
  );
}

const idsOf = (results: readonly RequirementResult[]) => results.map(({ id }) => printable(id, MAX_ID));

/** `failed: auth/user-status/missing`, with the level if it is not required. */
function titleOf(result: RequirementResult): string {
  const { id, level, outcome } = result;
  const known = isKnownFailure(result) ? 'known, ' : '';
  return `${known}${level === 'required' ? '' : `${level}, `}${outcome}: ${printable(id, MAX_ID)}`;
}

/** Writes a workflow command on one line, with GitHub's escapes. */
function command(kind: Kind, title: string, lines: readonly string[]): string {
  const escaped = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = escaped(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${kind} title=${property}::${escaped(lines.join('\n'))}`;
}
