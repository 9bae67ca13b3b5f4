import type {
  Failed,
  Intermittent,
  RecordedResponse,
  RequirementResult,
  RunRecord,
} from '../schemas/generated/types.ts';
import { endpoints } from '../schemas/endpoints.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { count, duration, printable, plural, type Tone } from './text.ts';
import { grouped, fixOf, replayCommand } from './verdict.ts';

/** Message about a bug of ours. */
export const OUR_BUG =
  'This is a bug of ib-conformance, not of the target. Please report it with the run record (--report json=run.json).';

interface Mark {
  readonly mark: string;
  readonly tone: Tone;
}

const marks = {
  passed: { mark: '✓', tone: 'good' },
  failed: { mark: '✗', tone: 'bad' },
  inconclusive: { mark: '?', tone: 'unsure' },
  observed: { mark: '·', tone: 'plain' },
  excluded: { mark: '–', tone: 'quiet' },
  broken: { mark: '!', tone: 'ours' },
} as const satisfies Record<RequirementResult['outcome'], Mark>;

/** Every outcome, in the order of the reports. */
export const outcomes: readonly string[] = Object.keys(marks);

/** Mark, emoji and tone of a verdict. */
export const verdictStyles = {
  conformant: { mark: '✓', emoji: '✅', tone: 'good' },
  nonconformant: { mark: '✗', emoji: '❌', tone: 'bad' },
  incomplete: { mark: '?', emoji: '❓', tone: 'unsure' },
} as const satisfies Record<RunRecord['verdict'], Mark & { readonly emoji: string }>;

/** Returns the verdict that the exit code stands for: the baseline can make a run pass or fail. */
export const effectiveVerdict = ({ verdict, baseline }: RunRecord): RunRecord['verdict'] =>
  baseline !== undefined && baseline.wrong.length > 0 ? 'nonconformant' : (baseline?.verdict ?? verdict);

/** `target http://127.0.0.1:4010/, partner northwind, ib-conformance 0.1.0`, printable and of limited length. */
export function runTitle(run: Pick<RunRecord, 'target' | 'version'> & { partner?: string; seed?: number }) {
  const { target, partner, seed, version } = run;
  return Object.entries({ target, partner, seed, 'ib-conformance': version })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${printable(String(value), MAX_URL)}`)
    .join(', ');
}

const MAX_URL = 300;

/** Returns mark and tone of a result. A failure only warns if it is known or not required. */
export function markOf(result: RequirementResult): Mark {
  const isWarning = result.outcome === 'failed' && (result.level !== 'required' || isKnownFailure(result));
  return isWarning ? { ...marks.failed, tone: 'warning' } : marks[result.outcome];
}

/** Groups results by suite, the first segment of the id, in the order of the record. */
export const bySuite = (results: readonly RequirementResult[]) =>
  grouped(results, ({ id }) => id.replace(/\/.*/s, ''));

/**
 * Groups findings that one fix mends: the same requirement of both endpoints, with the same aspect and
 * condition. A server that answers everything with 500 fails in one way, too, not in forty. Groups are in the
 * order of the record; required findings come first in a group.
 */
export const byFix = <Finding extends RequirementResult>(
  findings: readonly Finding[],
): readonly { readonly first: Finding; readonly rest: readonly Finding[] }[] =>
  [...grouped(findings, groupKeyOf).values()].map((group) => {
    const [first, ...rest] = group.toSorted((one, other) => rankOf(one) - rankOf(other));
    return { first: first!, rest };
  });

const rankOf = ({ level }: RequirementResult) => (level === 'required' ? 0 : 1);

/**
 * Returns the key of a group of findings. If the answer is one of the interface: requirement, aspect and
 * condition. Else the answer is what is wrong: the error in the form of the body, or aspect and condition, and
 * the answer without ids and numbers.
 */
function groupKeyOf(finding: RequirementResult): string {
  const actual = 'actual' in finding ? finding.actual : '';
  const { response, trouble = actual } = ('counterexample' in finding && finding.counterexample) || {};
  const aspect = finding.outcome === 'failed' ? finding.aspect : withoutNumbers(wordsOf(finding));
  const condition = conditionOf(finding);
  const reason = /^\d.* \(([^()]+)\)$/s.exec(actual)?.[1];
  const key = () => {
    if (response !== undefined && isOfInterface(response))
      return [withoutEndpoint(finding.id), aspect, condition];
    if (condition !== undefined) return [aspect, condition, response?.status];
    if (reason !== undefined) return [reason];
    return [
      aspect,
      response?.status,
      response && contentTypeOf(response),
      withoutNumbers(response?.body ?? trouble),
    ];
  };
  return JSON.stringify([finding.outcome, isKnownFailure(finding), ...key()]);
}

const withoutEndpoint = (id: string) => id.replace(/\/[^/]+\//, '/');

const messages: ReadonlySet<unknown> = new Set(
  Object.values(endpoints).flatMap((one) => Object.values(one.messages)),
);

/** Whether an answer says something of the interface: membership, a deposit, or one of its errors. */
function isOfInterface({ body }: RecordedResponse): boolean {
  try {
    const { error, is_under_ib: isMember, amountInUsd } = Object(JSON.parse(body)) as Record<string, unknown>;
    return messages.has(error) || isMember !== undefined || amountInUsd !== undefined;
  } catch {
    return false;
  }
}

/** Replaces ids, dates and numbers, which differ between requests. */
const withoutNumbers = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, '#');

const contentTypeOf = ({ headers }: RecordedResponse): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];

/** `401, content-type: application/json` */
function answerWords(response: RecordedResponse): string {
  const type = contentTypeOf(response);
  return `${response.status}, ${type === undefined ? 'no content-type' : `content-type: ${type}`}`;
}

/** Describes a result in one line. */
export function wordsOf(result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
      return result.basis === undefined ? '' : 'not proved by this run';
    case 'failed':
      return differenceOf(result);
    case 'inconclusive':
    case 'excluded':
      return `${result.reason}: ${result.words}`;
    case 'observed':
      return result.words;
    case 'broken':
      return `broken: ${result.words}`;
  }
}

/** `id spelling: upper case; situation: another partner's`: with other levels, the requirement holds. */
export const conditionOf = (result: RequirementResult): string | undefined =>
  result.outcome === 'failed' && result.where !== undefined && result.where.length > 0
    ? result.where.join('; ')
    : undefined;

/** `with: 6 of 6 failed; without "id spelling: upper case": 0 of 6` */
export function triedWords(result: RequirementResult): string | undefined {
  if (result.outcome !== 'failed' || result.separation === undefined) return undefined;
  const { with: having, without = [], ids } = result.separation;
  const parts = [
    ...(having === undefined ? [] : [`with: ${count(having.failed)} of ${count(having.of)} failed`]),
    ...without.map(({ condition, failed, of }) => `without "${condition}": ${count(failed)} of ${count(of)}`),
    ...(ids === undefined ? [] : [`fails: ${ids.failing.join(', ')}; passes: ${ids.passing.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** Describes how long a run waited because of 429s; empty if it did not. For the mock, the clock skips waits. */
export function waitWords({ mock, rateLimited }: RunRecord): string {
  const { answers } = rateLimited;
  const waits = rateLimited.endpoints
    .filter(({ waitedMs }) => waitedMs > 0)
    .map(({ endpoint, waitedMs }) => `${duration(waitedMs)} for ${endpoint}`);
  const waited = `${mock === true ? 'skipped a wait of' : 'waited'} ${waits.join(' and ') || '0.0 s'}`;
  return answers === 0 ? '' : `; ${waited} because of ${plural(answers, 'answer')} with status 429`;
}

/** Returns the environment variable with the key in a curl command. */
export const keyVariable = (curl: string): string =>
  /(?<!\\)\$\{?(\w+)|process\.env\.(\w+)/.exec(curl)?.slice(1).find(Boolean) ?? 'IB_API_KEY';

/** `3 of 11 equal lookups failed` */
export const failureRate = ({ failed, of }: Intermittent): string =>
  `${count(failed)} of ${count(of)} equal lookups failed`;

function differenceOf(result: Failed): string {
  const condition = conditionOf(result);
  const when = condition === undefined ? '' : `, fails when ${condition}`;
  return `differs in ${result.aspect}${when}${result.intermittent ? `, ${failureRate(result.intermittent)}` : ''}`;
}

/** A labelled fact of a result, in printable text on one line. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** `exact`: a text of the target, shown character by character. `command`: a command to copy. */
  readonly kind: 'prose' | 'exact' | 'command';
}

/** Maximum columns of prose and of the target's texts. */
export const MAX_TEXT = 600;
/** Maximum columns of a command, which is useless if it is cut. */
export const MAX_COMMAND = 20_000;
const LABEL_WIDTH = 13;

/** Returns all facts of a result apart from id and outcome. Each text is printable and of limited length. */
export function factsOf(record: RunRecord, result: RequirementResult): readonly Fact[] {
  const { title, clause, reading, outcome } = result;
  const failed = outcome === 'failed' ? result : undefined;
  const open = outcome === 'inconclusive' || outcome === 'excluded' ? result : undefined;
  const broken = outcome === 'broken' ? result : undefined;
  const tried = outcome === 'failed' || outcome === 'inconclusive' ? result : undefined;
  const exchange = tried?.counterexample;
  const { curl, key, response, trouble = 'no reason was recorded' } = exchange ?? {};
  const body = response?.body;
  return [
    ...fact('fails when', conditionOf(result)),
    ...fact('tried', triedWords(result)),
    ...fact('intermittent', failed?.intermittent && failureRate(failed.intermittent)),
    ...fact('level', levelWords(result)),
    ...fact('known', failed?.baseline),
    ...fact('title', title),
    ...fact('clause', clause),
    ...fact('reading', reading),
    ...fact('aspect', failed?.aspect),
    ...fact('expected', failed?.expected, 'exact'),
    ...fact('actual', failed?.actual, 'exact'),
    ...fact('reason', open && wordsOf(open)),
    ...fact('fix', open && fixOf(open.reason)),
    ...fact('observed', outcome === 'observed' ? result.words : undefined),
    ...fact('error', broken?.words, 'exact'),
    ...fact('bug', broken && OUR_BUG),
    ...fact('request', curl, 'command'),
    ...fact('key', key === undefined ? key : `$${keyVariable(curl!)} stands for ${key}`, 'exact'),
    ...fact('answer', response && answerWords(response), 'exact'),
    ...fact('answer', exchange && !response ? `none: ${trouble}` : undefined),
    ...fact('body', body === '' ? '(empty)' : body, 'exact'),
    ...fact('shown', body && body.length > MAX_TEXT ? shownWords(body) : undefined),
    ...fact('replay', tried && replayCommand(record, tried), 'command'),
  ];
}

/** Returns the level, and whether a failure only warns. */
export const levelWords = (result: RequirementResult): string =>
  result.level + (markOf(result).tone === 'warning' && !isKnownFailure(result) ? ': warning only' : '');

function fact(label: string, text: string | undefined, kind: Fact['kind'] = 'prose'): readonly Fact[] {
  if (text === undefined) return [];
  const shown = printable(text, kind === 'command' ? MAX_COMMAND : MAX_TEXT);
  const isCommandChanged = kind === 'command' && shown !== text;
  return [
    { label, text: shown, kind },
    ...(isCommandChanged
      ? fact('note', `${label} is escaped or cut; the json report has the full text`)
      : []),
  ];
}

const shownWords = (body: string) => `cut: the body has ${count(body.length)} characters`;

/** Renders facts as lines with aligned values. */
export const factLines = (facts: readonly Fact[]): readonly string[] =>
  facts.map(({ label, text }) => label.padEnd(LABEL_WIDTH) + text);
