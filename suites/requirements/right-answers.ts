import { messageOf, type Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer } from '../answer.ts';
import { catalogue, table } from './catalogue.ts';
import {
  expectError,
  expectErrorBody,
  hasExactly,
  isExecuted,
  isLimiterAnswer,
  isMember,
  isNoMember,
} from '../rules/expectations.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import { errorText } from '../rules/named-answers.ts';
import type { Known } from '../known.ts';
import { isLookup, type Request } from '../request.ts';
import type { Metadata, Requirement } from '../rules/requirement.ts';
import { isCrash } from './robustness.ts';
import { failed, pass, type Verdict } from '../rules/verdict.ts';

/** A requirement, or else a rule of the interface, as far as a person has to know it. */
export type RowText = Readonly<Pick<Metadata, 'level' | 'clause' | 'title' | 'reading'>> &
  Readonly<Partial<Pick<Metadata, 'id'>>>;

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
  const limited = errorText(request.endpoint, 429);
  const facts = factsOf(known, request);
  if (facts === undefined) {
    const answers = openAnswers(known, request).map(({ text }): AllowedAnswer => ({
      text,
      kind: 'open',
      requirements: [],
    }));
    return answers.length === 0 ? undefined : { answers, limited, alsoChecked: [] };
  }
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
    limited,
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

interface OpenAnswer {
  readonly text: string;
  readonly isGiven: (answer: Answer) => boolean;
}

const results: Readonly<Record<Endpoint, OpenAnswer>> = {
  'user-status': {
    text: '200 {"is_under_ib":…,"date_joined":…}',
    isGiven: (answer) =>
      (isMember(answer) || isNoMember(answer)) && hasExactly(answer, 'is_under_ib', 'date_joined'),
  },
  'deposit-check': {
    text: '200 {"status":"EXECUTED","amountInUsd":…,"executedAt":…}',
    isGiven: isExecuted,
  },
};

const refusal: OpenAnswer = {
  text: 'any status from 400 to 499',
  isGiven: ({ status }) => status >= 400 && status < 500,
};

/** An error with the message that the endpoint has for its status. */
const exact = (endpoint: Endpoint, status: 401 | 404): OpenAnswer => ({
  text: errorText(endpoint, status),
  isGiven: (answer) => expectError(endpoint, status)(answer).kind === 'passed',
});

/** The message of a 400 may name another reason than the interface does. Another requirement is about that of a 429. */
const anyOther = (endpoint: Endpoint): OpenAnswer => ({
  text: 'any other status from 400 to 499, with {"error":"…"}',
  isGiven: (answer) =>
    refusal.isGiven(answer) &&
    ([400, 429].includes(answer.status) || messageOf(endpoint, answer.status) === undefined) &&
    expectErrorBody('')(answer).kind === 'passed',
});

/**
 * The answers to a lookup about which the interface is silent, such as one with a repeated parameter: a result, unless the
 * key is refused, or an error (Results; Error body). A front end may refuse a hostile query.
 */
function openAnswers(known: Known, request: Request): readonly OpenAnswer[] {
  const { endpoint } = request;
  const facts = factsOf(known, request);
  if (!isLookup(request) || (facts !== undefined && facts.parameter !== 'hostile')) return [];
  const { key } = presentedKey(known, request);
  const isRead = key === 'accepted' || key === 'open';
  const read = isRead ? [results[endpoint]] : [];
  if (facts !== undefined) return [...read, refusal];
  if (isRead && messageOf(endpoint, 404) !== undefined) read.push(exact(endpoint, 404));
  return [...read, ...(key === 'accepted' ? [] : [exact(endpoint, 401)]), anyOther(endpoint)];
}

const general: RowText = {
  level: 'required',
  clause: 'Error body',
  title: 'Whatever the request is, the answer is a result or an error of the interface',
};

/** Judges an answer by what holds for every request. */
function judgeGenerally(known: Known, request: Request, answer: Answer): Verdict {
  const open = openAnswers(known, request);
  const isOpen = open.length === 0 || open.some(({ isGiven }) => isGiven(answer));
  if (isOpen && !isCrash(request, answer)) return pass;
  return failed('shape', open.map(({ text }) => text).join(', or ') || 'a status below 500', summary(answer));
}

/**
 * Judges one answer: by every row that covers the request, and by every monitor; if it breaks no required one, by what
 * holds for every request.
 */
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
  const rows = [...byTable, ...byMonitors, ...byScenarios].flatMap(({ row, verdict }) =>
    broken(textOf(row), verdict),
  );
  const isWrong = rows.some(({ level }) => level === 'required');
  return isWrong ? rows : [...broken(general, judgeGenerally(known, request, answer)), ...rows];
}

const broken = (row: RowText, verdict: Verdict): readonly BrokenRow[] =>
  verdict.kind === 'failed' ? [{ ...row, expected: verdict.expected, actual: verdict.actual }] : [];
