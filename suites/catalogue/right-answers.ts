import { messageOf } from '../../schemas/endpoints.ts';
import type { Answer } from '../answer.ts';
import { catalogue, table } from './catalogue.ts';
import { isLimiterAnswer } from './expectations.ts';
import { factsOf } from './facts-of-request.ts';
import type { Known } from './known.ts';
import type { Request } from '../request.ts';
import type { Metadata, Requirement } from './requirement.ts';
import type { Verdict } from './verdict.ts';

/** A requirement, as far as a person has to know it. */
export type RowText = Readonly<Pick<Metadata, 'id' | 'level' | 'clause' | 'title' | 'reading'>>;

/** An answer that is right. */
export interface AllowedAnswer {
  /** Status and body, such as `404 {"error":"Deposit not found"}`. */
  readonly text: string;
  /** `required`: the plain reading. `recommended`: good practice. `open`: right too, because the interface is silent. */
  readonly kind: 'required' | 'recommended' | 'open';
  readonly requirements: readonly RowText[];
}

/**
 * The right answers to a request, the plain reading first, and what else is required of an answer.
 *
 * @returns undefined if the interface says nothing about the request
 */
export function rightAnswersTo(known: Known, request: Request) {
  const facts = factsOf(known, request);
  if (facts === undefined) return undefined;
  const { right, rows } = table.coverOf(facts);
  const answers = new Map<string, AllowedAnswer>();
  for (const { row, answer, isPlain } of right) {
    const text = answer.text(facts);
    const { kind, requirements = [] } = answers.get(text) ?? {};
    const own = isPlain ? (row.level === 'required' ? 'required' : 'recommended') : 'open';
    answers.set(text, { text, kind: kind ?? own, requirements: [...requirements, textOf(row)] });
  }
  return {
    answers: [...answers.values()],
    /** The answer to any request of a limited key. */
    limited: `429 ${JSON.stringify({ error: messageOf(facts.endpoint, 429) })}`,
    alsoChecked: rows.flatMap((row) =>
      row.kind === 'answer' || row.kind === 'repetition' ? [] : [textOf(row)],
    ),
  };
}

const textOf = ({ id, level, clause, title, reading }: Requirement): RowText => ({
  id,
  level,
  clause,
  title,
  ...(reading !== undefined && { reading }),
});

/** A requirement that an answer breaks. */
export interface BrokenRow extends RowText {
  readonly expected: string;
  readonly actual: string;
}

/** Judges one answer: by every row that covers the request, and by every monitor. */
export function judgeAnswer(known: Known, request: Request, answer: Answer): readonly BrokenRow[] {
  const facts = isLimiterAnswer(request.endpoint, answer) ? undefined : factsOf(known, request);
  const byTable = facts === undefined ? [] : table.judge(facts, answer, known);
  const byMonitors = catalogue.flatMap((row) => {
    const found = row.kind === 'monitor' ? row.watch(known)(request, answer) : undefined;
    return found === undefined ? [] : [{ row, verdict: found.verdict }];
  });
  const byScenarios = catalogue.flatMap((row) => {
    const isAbout = row.kind === 'scenario' && row.endpoint === request.endpoint;
    const verdict = isAbout && facts === undefined ? row.judge?.(known, request, answer) : undefined;
    return verdict === undefined ? [] : [{ row, verdict }];
  });
  return [...byTable, ...byMonitors, ...byScenarios].flatMap(broken);
}

const broken = ({ row, verdict }: { readonly row: Requirement; readonly verdict: Verdict }) =>
  verdict.kind === 'failed' ? [{ ...textOf(row), expected: verdict.expected, actual: verdict.actual }] : [];
