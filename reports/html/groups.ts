import type { RequirementResult } from '../../schemas/generated/types.ts';
import { reasonOpen } from '../conclusion.ts';

/** Requirements that have something in common. */
export interface Group {
  /** What they have in common; empty where the list itself says it. */
  readonly title: string;
  readonly rows: readonly RequirementResult[];
  /** What there is to say of each, apart from the title. */
  readonly remark: (row: RequirementResult) => string;
}

/** What failed: those that make the verdict come first. */
export function failedGroups(rows: readonly RequirementResult[]): readonly Group[] {
  const remark = (row: RequirementResult) => (row.outcome === 'failed' ? `differs in ${row.aspect}` : '');
  const failed = rows.filter(({ outcome }) => outcome === 'failed');
  const [required, others] = [true, false].map((is) =>
    failed.filter(({ level }) => (level === 'required') === is),
  );
  return [
    { title: '', rows: required!, remark },
    { title: 'Not required: these only warn', rows: others!, remark },
  ].filter((group) => group.rows.length > 0);
}

/** What nothing is known of, by the reason; what they say of it in the title where they all say the same. */
export function openGroups(rows: readonly RequirementResult[]): readonly Group[] {
  const groups = new Map<string, RequirementResult[]>();
  for (const row of rows) {
    const reason = reasonOpen(row);
    if (reason === undefined) continue;
    const group = groups.get(reason) ?? [];
    group.push(row);
    groups.set(reason, group);
  }
  return [...groups].map(([reason, group]) => {
    const words = new Set(group.map(wordsOf));
    const [only = ''] = words;
    return words.size === 1
      ? { title: `${reason}: ${only}`, rows: group, remark: () => '' }
      : { title: reason, rows: group, remark: wordsOf };
  });
}

const wordsOf = (row: RequirementResult) => ('words' in row ? row.words : '');
