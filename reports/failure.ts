import type { Failed, RecordedResponse, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure, failsRun, outcomeWords } from './judgement.ts';
import { MAX_COMMAND, MAX_LIST, MAX_TEXT, type Fact, type Finding, type Mark } from './document.ts';
import { replayFlag } from './next-step.ts';
import { contentTypeOf } from './similar.ts';
import { compact, count, plural, printable } from './text.ts';
import { conditionOf, failureRate, triedWords } from './when.ts';

const marks = {
  passed: { mark: '✓', tone: 'good' },
  failed: { mark: '✗', tone: 'bad' },
  inconclusive: { mark: '?', tone: 'unsure' },
  observed: { mark: '·', tone: 'plain' },
  excluded: { mark: '–', tone: 'quiet' },
  broken: { mark: '!', tone: 'ours' },
} as const satisfies Record<RequirementResult['outcome'], Mark>;

/** Returns mark and tone of a result. A failure that does not fail the run only warns. */
export const markOf = (record: Pick<RunRecord, 'strict'>, row: RequirementResult): Mark =>
  row.outcome === 'failed' && !failsRun(record, row)
    ? { ...marks.failed, tone: 'warning' }
    : marks[row.outcome];

/** Facts that are enough to see and to repeat a failure. */
const short: ReadonlySet<string> = new Set(
  'id,differs,cause,when,failing,passing,often,since,during,known,error,request,key,trace,note,replay'.split(
    ',',
  ),
);

/** Maximum ids of similar failures on the console. */
const MAX_IDS = 4;

/**
 * Shows a group of similar failures by its first one.
 *
 * @param place where all facts and ids are; undefined to show them
 */
export function findingOf(
  record: RunRecord,
  { first, rest }: { readonly first: RequirementResult; readonly rest: readonly RequirementResult[] },
  place?: string,
): Finding {
  const words = outcomeWords(record, first);
  const start = words.startsWith('failed (') ? `${words}: ` : '';
  const facts = factsOf(record, first, place !== undefined);
  const ids = rest.map(({ id }) => id);
  const isCut = place !== undefined && ids.length > MAX_IDS;
  const named = isCut
    ? `${ids.slice(0, MAX_IDS).join(', ')} and ${count(ids.length - MAX_IDS)} more (${place})`
    : ids.join(', ');
  return {
    kind: 'finding',
    ...markOf(record, first),
    title: start + first.title,
    anchor: first.id,
    facts: [
      { kind: 'prose', label: 'id', text: first.id },
      ...(place === undefined
        ? facts
        : facts.filter((one) => one.kind === 'comparison' || short.has(one.label))),
      ...fact(`${count(ids.length)} alike`, ids.length === 0 ? undefined : named, 'prose', MAX_LIST),
    ],
  };
}

/**
 * Returns all facts of a result apart from its id. Each text is of limited length.
 *
 * @param isShort whether to cut long conditions, and to leave out in what marked texts differ
 */
export function factsOf(record: RunRecord, result: RequirementResult, isShort = false): readonly Fact[] {
  const { clause, reading, outcome, level, cases } = result;
  const failed = outcome === 'failed' ? result : undefined;
  const open = outcome === 'inconclusive' || outcome === 'excluded' ? result : undefined;
  const broken = outcome === 'broken' ? result : undefined;
  const tried = outcome === 'failed' || outcome === 'inconclusive' ? result : undefined;
  const exchange = tried?.counterexample;
  const { curl, key, response, trouble = 'no reason was recorded' } = exchange ?? {};
  // What came only while something else was lost cannot be shown by its request.
  const isShown = failed?.during === undefined && failed?.since?.untilSeconds === undefined;
  const body = response?.body;
  const ids = failed?.separation?.ids;
  const rate = failed?.intermittent ?? failed?.repeats;
  const isMarked = failed !== undefined && failed.expected !== failed.actual;
  return [
    ...(failed === undefined
      ? []
      : [{ kind: 'comparison', expected: failed.expected, actual: failed.actual } as const]),
    ...fact('differs', failed && !(isShort && isMarked) ? `in ${failed.aspect}` : undefined),
    ...fact('cause', failed?.cause),
    ...fact('when', conditionOf(result, isShort)),
    ...fact('failing', ids?.failing.join('; ')),
    ...fact('passing', ids?.passing.join('; ')),
    ...fact('tried', triedWords(result)),
    ...fact('often', rate && failureRate(rate)),
    ...fact('since', failed?.since && sinceWords(failed.since)),
    ...fact('during', failed?.during),
    ...fact('note', failed?.unexplained && UNEXPLAINED),
    ...fact('known', failed?.baseline),
    ...fact('cases', cases > 0 ? count(cases) : undefined),
    ...fact('level', level),
    ...fact('clause', clause),
    ...fact('reading', reading),
    ...fact('reason', open && `${open.reason}: ${open.words}`),
    ...fact('observed', outcome === 'observed' ? result.words : undefined),
    ...fact('error', broken?.words, 'exact'),
    ...(isShown ? fact('request', curl, 'command', MAX_COMMAND) : fact('sent', curl, 'exact', MAX_COMMAND)),
    ...fact('key', key && standsFor(curl!, key), 'exact'),
    ...fact('trace', exchange?.trace, 'exact'),
    ...fact('answer', response && answerWords(response), 'exact'),
    ...fact('answer', exchange && !response ? `none: ${trouble}` : undefined),
    ...fact('body', body === '' ? '(empty)' : body, 'exact'),
    ...fact('shown', body !== undefined && body.length > MAX_TEXT ? shownWords(body) : undefined),
    ...fact('replay', tried && replayFlag(record, tried), 'command', MAX_COMMAND),
  ];
}

function fact(
  label: string,
  text: string | undefined,
  kind: 'prose' | 'exact' | 'command' = 'prose',
  most = MAX_TEXT,
): readonly Fact[] {
  if (text === undefined) return [];
  const isCommandChanged = kind === 'command' && printable(text, most) !== text;
  return [
    { kind, label, text },
    ...(isCommandChanged
      ? fact('note', `${label} is escaped or cut; the json report has the full text`)
      : []),
  ];
}

const UNEXPLAINED = 'the run had to end before a smaller request and the conditions were found';

/** `request 242, 4.2 s after the start; 35 answers before were right, the last one at 4.1 s` */
function sinceWords(since: NonNullable<Failed['since']>): string {
  const { rightBefore, lastRightSeconds, fromRequest, fromSeconds, untilSeconds, rightAfter } = since;
  const until = untilSeconds === undefined ? '' : `, until ${untilSeconds.toFixed(1)} s`;
  const after = rightAfter === undefined ? '' : `; ${plural(rightAfter, 'answer')} after were right, too`;
  return `request ${count(fromRequest)}, ${fromSeconds.toFixed(1)} s after the start${until}: ${plural(rightBefore, 'answer')} before were right, the last one at ${lastRightSeconds.toFixed(1)} s${after}`;
}

const shownWords = (body: string) => `cut: the body has ${count(body.length)} characters`;

/** `401, content-type: application/json` */
function answerWords(response: RecordedResponse): string {
  const type = contentTypeOf(response);
  return `${response.status}, ${type === undefined ? 'no content-type' : `content-type: ${type}`}`;
}

/** `$IB_API_KEY stands for <key northwind/active>`, for the environment variable in a curl command. */
function standsFor(curl: string, key: string): string {
  const [, variable, inNode] = /(?<!\\)\$\{?(\w+)|process\.env\.(\w+)/.exec(curl) ?? [];
  return `$${variable ?? inNode ?? 'IB_API_KEY'} stands for ${key}`;
}

/** Describes a result in one line. */
export function wordsOf(record: Pick<RunRecord, 'strict'>, result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
      return compact(
        result.cases > 0 ? `passed in ${plural(result.cases, 'case')}` : 'passed',
        result.basis !== undefined && 'a server without this data would pass too',
      ).join('; ');
    case 'failed': {
      const condition = conditionOf(result);
      const words = outcomeWords(record, result);
      const known = isKnownFailure(result) ? `: ${result.baseline}` : '';
      return `${words}${known}, differs in ${result.aspect}${condition === undefined ? '' : `, when ${condition}`}`;
    }
    case 'inconclusive':
    case 'excluded':
      return `${result.reason}: ${result.words}`;
    case 'observed':
      return result.words;
    case 'broken':
      return `broken: ${result.words}`;
  }
}
