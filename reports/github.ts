import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { failsRun, headlineOf, judgementOf, outcomeWords } from './judgement.ts';
import { MAX_LIST } from './document.ts';
import { factLines, factsOf } from './failure.ts';
import { worstFirst } from './similar.ts';
import { compact, printable } from './text.ts';
import { byReason, fixOf } from './unverified.ts';

/** GitHub's limit for annotations of a kind per step. It drops more. */
const MAX_SHOWN = 10;
const MAX_WRONG = 3;
const MAX_ID = 300;
const MAX_SENTENCE = 2_000;

const labels: ReadonlySet<string> = new Set(
  'differs,when,tried,often,known,reason,fix,error,request,replay,bug'.split(','),
);

type Kind = 'error' | 'warning' | 'notice';

/**
 * Renders workflow commands for GitHub Actions, one per line: errors for what fails the run and for our own bugs,
 * warnings for other failures and for unjudged requirements. The conclusion comes first: a notice, or an error if the
 * run ended in another way than exit code 0 or 1. GitHub shows ten of a kind: the worst, and the tenth counts the rest.
 */
export function renderGithub(record: RunRecord): string {
  const { requirements, baseline, notes } = record;
  const failed = requirements.filter((row) => failsRun(record, row));
  const at = (level: RequirementResult['level'], outcome: RequirementResult['outcome']) =>
    requirements.filter(
      (row) =>
        row.level === level && row.outcome === outcome && !isKnownFailure(row) && !failed.includes(row),
    );
  const errors = [...failed, ...requirements.filter(({ outcome }) => outcome === 'broken')];
  const warnings = [
    ...at('required', 'inconclusive'),
    ...at('recommended', 'failed'),
    ...at('observed', 'failed'),
    ...at('recommended', 'inconclusive'),
    ...requirements.filter(isKnownFailure),
  ];
  const mistakes = baseline?.wrong ?? [];
  const wrong = mistakes.length > MAX_WRONG ? [mistakes.join('; ')] : mistakes;
  const { ending } = judgementOf(record);
  const kind = ending === 'conformant' || ending === 'nonconformant' ? 'notice' : 'error';
  const room = MAX_SHOWN - wrong.length - (kind === 'error' ? 1 : 0);
  const remarks = [
    ...[...byReason(requirements)].map(
      ([reason, rows]) => `not verified (${fixOf(reason) ?? reason}): ${rows.map(({ id }) => id).join(', ')}`,
    ),
    ...notes.map((note) => `note: ${note}`),
  ];
  const lines = [
    command(
      kind,
      `ib-conformance: ${printable(headlineOf(record), MAX_SENTENCE)}`,
      remarks.length === 0
        ? ['every selected requirement was verified']
        : remarks.map((text) => printable(text, MAX_LIST)),
    ),
    ...wrong.map((words) => command('error', 'baseline', [printable(words, MAX_SENTENCE)])),
    ...annotations('error', record, errors, room),
    ...annotations('warning', record, warnings, MAX_SHOWN),
  ];
  return `${lines.join('\n')}\n`;
}

function annotations(kind: Kind, record: RunRecord, results: readonly RequirementResult[], most: number) {
  const groups = worstFirst(results);
  const shown = groups.length > most ? groups.slice(0, most - 1) : groups;
  const more = groups.slice(shown.length).flatMap(({ first, rest }) => idsOf([first, ...rest]));
  return compact(
    ...shown.map(({ first, rest }) => {
      const facts = factsOf(record, first).filter(
        (fact) => fact.kind === 'comparison' || labels.has(fact.label),
      );
      const others = `and ${rest.length} more like this: ${printable(idsOf(rest).join(', '), MAX_SENTENCE)}`;
      return command(
        kind,
        titleOf(record, first),
        compact(printable(first.title, MAX_SENTENCE), ...factLines(facts), rest.length > 0 && others),
      );
    }),
    more.length > 0 && command(kind, `${more.length} more`, [printable(more.join(', '), MAX_SENTENCE)]),
  );
}

const idsOf = (results: readonly RequirementResult[]) => results.map(({ id }) => printable(id, MAX_ID));

/** `failed: auth/user-status/missing`, with what it counts for. */
function titleOf(record: RunRecord, result: RequirementResult): string {
  const level = result.level === 'required' || result.outcome === 'failed' ? '' : `${result.level}, `;
  return `${level}${outcomeWords(record, result)}: ${printable(result.id, MAX_ID)}`;
}

/** Writes a workflow command on one line, with GitHub's escapes. */
export function command(kind: Kind, title: string, lines: readonly string[]): string {
  const escaped = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = escaped(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${kind} title=${property}::${escaped(lines.join('\n'))}`;
}
