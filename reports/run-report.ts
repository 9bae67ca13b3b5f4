import { endpointNames } from '../schemas/endpoints.ts';
import type { RequirementResult, RunRecord, Need } from '../schemas/generated/types.ts';
import { lossWords, waitWords } from '../schemas/progress.ts';
import { defined } from '../schemas/values.ts';
import { isKnownFailure, failsRun, judgementOf, outcomeWords, combinationSentence } from './judgement.ts';
import {
  list,
  paragraph,
  type Block,
  type Item,
  type Matrix,
  type Report,
  type Section,
} from './document.ts';
import { findingOf, markOf, wordsOf } from './failure.ts';
import { nextStep, runCommand } from './next-step.ts';
import { bySuite, grouped, worstFirst } from './similar.ts';
import { compact, count, duration, plural } from './text.ts';
import { additionsBlock, additionsFor, unverified } from './unverified.ts';

type Results = readonly RequirementResult[];

/** Failures that are shown in full if the rest is elsewhere. */
const MAX_FINDINGS = 10;

/**
 * What a run found.
 *
 * @param place where the rest is, if the report is short: `--verbose shows all`; undefined for the whole report
 */
export function runReport(record: RunRecord, place?: string): Report {
  const { requirements, notes, baseline } = record;
  const isWhole = place === undefined;
  const [command, next] = [runCommand(record), nextStep(record)];
  const shown = (wanted: (row: RequirementResult) => boolean) =>
    findings(record, worstFirst(requirements.filter(wanted)), place);
  // One mistake may fail requirements and recommendations: it is one block.
  const failures = worstFirst(requirements.filter((row) => row.outcome === 'failed' && !isKnownFailure(row)));
  const wrong = (baseline?.wrong ?? []).map((words) => ({ ...WRONG, words }));
  const known = requirements.filter(isKnownFailure);
  return {
    headline: judgementOf(record),
    about: runTitle(record),
    conclusion: [
      paragraph(effortWords(record), 'quiet'),
      ...limitSentences(record, isWhole).map((words) => paragraph(words)),
      ...lossSentences(record, isWhole).map((words) => paragraph(words)),
      ...notes.map((note) => paragraph(`note: ${note}`)),
      ...(requirements.some((row) => failsRun(record, row))
        ? []
        : additionsBlock(additionsFor(requirements))),
    ],
    ...(!('command' in next && next.command === command) && defined({ command })),
    next,
    sections: [
      { title: isWhole ? 'Suites' : '', blocks: matrix(record) },
      {
        title: 'Bugs of ib-conformance',
        kind: 'error',
        blocks: shown(({ outcome }) => outcome === 'broken'),
      },
      {
        title: 'Failed',
        kind: 'error',
        blocks: [
          ...list(wrong),
          ...findings(
            record,
            failures.filter(({ first }) => failsRun(record, first)),
            place,
          ),
        ],
      },
      {
        title: 'Warnings',
        kind: 'warning',
        blocks: findings(
          record,
          failures.filter(({ first }) => !failsRun(record, first)),
          place,
        ),
      },
      {
        title: 'Known failures',
        kind: 'warning',
        blocks: isWhole ? findings(record, worstFirst(known)) : list(rows(record, known)),
      },
      {
        title: isWhole ? 'Not verified' : `Not verified (${place})`,
        kind: 'open',
        blocks: [...unverified(record, !isWhole), ...(isWhole ? shown(isUnclear) : [])],
      },
      ...(isWhole ? wholeSections(record) : []),
    ],
  };
}

const WRONG = { mark: '✗', tone: 'bad', name: 'baseline' } as const;

/** Whether a request shows why a requirement could not be judged. */
const isUnclear = (row: RequirementResult): boolean =>
  row.outcome === 'inconclusive' && row.counterexample !== undefined && row.reason !== 'depends';

/** `target http://127.0.0.1:4010/, partner northwind, seed 7, ib-conformance 0.1.0, 2026-01-05 10:00:00 UTC` */
export function runTitle(
  run: Pick<RunRecord, 'target' | 'version'> & Partial<Pick<RunRecord, 'partner' | 'seed' | 'startedAt'>>,
): string {
  const { target, partner, seed, version, startedAt } = run;
  const named = Object.entries({ target, partner, seed, 'ib-conformance': version }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`${name} ${value}`]),
  );
  const begun = startedAt?.replace(/T(.*?)(?:\.\d+)?Z$/, ' $1 UTC');
  return compact(...named, begun).join(', ');
}

/** `1,607 requests in 4.2 s, 12 answers with status 429; waited 3.2 s for user-status (stated limit)` */
function effortWords({ requests, durationMs, mock, rateLimited: { answers }, waits }: RunRecord): string {
  const refused = answers === 0 ? '' : `, ${plural(answers, 'answer')} with status 429`;
  const told = waits?.flatMap(({ endpoint, reason, waitedMs }) => {
    const what = endpoint === undefined ? '' : ` for ${endpoint}`;
    return waitedMs < 50 ? [] : [`${duration(waitedMs)}${what} (${waitWords[reason]})`];
  });
  const waited = told?.length ? `; ${mock === true ? 'skipped waits of' : 'waited'} ${told.join(', ')}` : '';
  return `${plural(requests, 'request')} in ${duration(durationMs)}${refused}${waited}`;
}

/** What stopped working in the middle of the run, and what became of that. Reasons of rows tell it, too. */
const lossSentences = ({ losses = [], requirements }: RunRecord, isWhole: boolean): readonly string[] =>
  losses.flatMap((loss) => {
    const { seconds, isJudged, lastRightSeconds, before } = loss;
    const then =
      seconds === undefined
        ? `the last right answer came at ${lastRightSeconds.toFixed(1)} s`
        : isJudged === true
          ? 'it was the second time, so that it counts'
          : 'what was asked meanwhile was asked again';
    const requests = isWhole && before.length > 0 ? `; the last requests before: ${before.join(', ')}` : '';
    const isTold = requirements.some((row) => 'words' in row && row.words === lossWords(loss));
    if (isTold && !isWhole) return [];
    return [`${loss.reason}: ${lossWords(loss)}; ${then}${requests}`];
  });

/** A row for each suite, with its requirements by endpoint. */
function matrix(record: RunRecord): readonly Block[] {
  const columns = [...endpointNames, undefined];
  const suites: Matrix['rows'] = [...bySuite(record.requirements)].map(([name, all]) => ({
    name,
    ...worstMark(record, all),
    words: countWords(record, all),
    cells: columns.map((endpoint) =>
      rows(
        record,
        all.filter((row) => endpointOf(row) === endpoint),
      ),
    ),
  }));
  return suites.length === 0
    ? []
    : [{ kind: 'matrix', columns: [...endpointNames, 'both endpoints'], rows: suites }];
}

/** Returns the endpoint in the id of a requirement; undefined if it is for both. */
const endpointOf = ({ id }: RequirementResult) =>
  endpointNames.find((endpoint) => endpoint === id.split('/', 2)[1]);

/** `17 passed, 2 failed, 3 observed` */
const countWords = (record: RunRecord, all: Results): string =>
  [...grouped(byOutcome(all), (row) => outcomeWords(record, row))]
    .map(([words, some]) => `${count(some.length)} ${words}`)
    .join(', ');

/** Outcomes, the worst first. */
const order = ['broken', 'failed', 'inconclusive', 'passed', 'observed', 'excluded'];
const byOutcome = (all: Results): Results =>
  all.toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome));

/** The mark of the worst result. Required failures come before warnings. */
function worstMark(record: RunRecord, all: Results) {
  const rank = (row: RequirementResult) => 2 * order.indexOf(row.outcome) + (failsRun(record, row) ? 0 : 1);
  return markOf(record, all.toSorted((one, other) => rank(one) - rank(other))[0]!);
}

const rows = (record: RunRecord, some: Results): readonly Item[] =>
  some.map((row) => ({
    ...markOf(record, row),
    name: row.id,
    title: row.title,
    level: row.level,
    words: wordsOf(record, row),
    ...('counterexample' in row || row.outcome === 'broken' || row.outcome === 'failed'
      ? { anchor: row.id }
      : {}),
  }));

/** Failures in full, the worst first. Of many, a short report has the rest by id. */
function findings(
  record: RunRecord,
  groups: ReturnType<typeof worstFirst>,
  place?: string,
): readonly Block[] {
  const shown = place === undefined ? groups : groups.slice(0, MAX_FINDINGS);
  const left = groups.slice(shown.length);
  return [
    ...shown.map((group) => findingOf(record, group, place)),
    ...(left.length === 0
      ? []
      : [paragraph(`and ${plural(left.length, 'failure')} of other kinds (${place})`)]),
  ];
}

/** What only a whole report has. */
function wholeSections(record: RunRecord): readonly Section[] {
  const { requirements } = record;
  const unproved = requirements.filter((row) => row.outcome === 'passed' && row.basis === 'fixture');
  const lists = (wanted: Results) =>
    [...bySuite(wanted)].flatMap(([suite, some]) => list(rows(record, some), suite));
  return [
    { title: 'Passed, but a server without this data would pass too', blocks: list(rows(record, unproved)) },
    { title: 'Requirements', blocks: lists(requirements.filter(({ level }) => level !== 'observed')) },
    {
      title: 'Observed where the interface is silent',
      blocks: lists(requirements.filter(({ level }) => level === 'observed')),
    },
    {
      title: 'The run',
      blocks: [
        ...compact(combinationSentence(record)).map((words) => paragraph(words)),
        ...(record.timeline === undefined ? [] : [{ kind: 'timeline', timeline: record.timeline } as const]),
        ...requirements.flatMap(({ id, trial }) =>
          trial === undefined ? [] : [{ kind: 'trial', id, streams: trial } as const],
        ),
      ],
    },
  ];
}

/** `90s`, `12m`, `3h`: a duration as flags take it. */
function flagDuration(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** `--max-duration 12m reaches strength 1`; if nothing has to wait, `--max-requests`. */
export const needWords = ({ reaches, seconds, requests }: Need): string => {
  const bound = seconds === 0 ? `--max-requests ${requests}` : `--max-duration ${flagDuration(seconds)}`;
  return `${bound} ${reaches === 'everything' ? 'is enough for everything' : `reaches ${reaches}`}`;
};

/** `user-status 20 in 5m, deposit-check 100 in 15m`; empty if no limit is stated. */
const usedLimits = ({ endpoints }: RunRecord['rateLimited']): string =>
  compact(
    ...endpoints.map(
      ({ endpoint, limit }) =>
        limit && `${endpoint} ${count(limit.requests)} in ${flagDuration(limit.windowSeconds)}`,
    ),
  ).join(', ');

const sharing = { partner: 'the keys of the partner', address: 'all callers' };

/** What contradicts the stated limits, in sentences, and on demand the limits themselves. */
function limitSentences({ rateLimited }: RunRecord, hasLimits: boolean): readonly string[] {
  const used = usedLimits(rateLimited);
  return compact(
    hasLimits && used !== '' && `limits used: ${used}`,
    ...rateLimited.endpoints.map(
      ({ endpoint, contradiction }) =>
        contradiction !== undefined && `the target contradicts the fixture at ${endpoint}: ${contradiction}`,
    ),
    ...rateLimited.endpoints.map(({ endpoint, scope = 'key' }) =>
      scope === 'key' ? false : `${endpoint}: ${sharing[scope]} share one limit ("scope": "${scope}")`,
    ),
  );
}
