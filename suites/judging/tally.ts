import { defined } from '../../schemas/values.ts';
import { type Answer, type Reply, type Trouble } from '../answer.ts';
import { presentOf, type Present, type Known } from '../known.ts';
import { isLimiterAnswer } from '../rules/expectations.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import type { Cover, Finding, Table } from '../rules/table.ts';
import { oddness, type Lookup } from '../plan/lookup.ts';
import { showsEntity } from '../rules/named-answers.ts';
import type { Request } from '../request.ts';
import type { AnswerRow, LookupRow, Refinement } from '../rules/requirement.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { failed, type Verdict } from '../rules/verdict.ts';
import type { Result } from './record.ts';
import { countAnswer, newCourse, type Course } from './course.ts';
import { asRepetition, createHistory, type History } from './repetition.ts';

/** The result of a row about lookups, or of a monitor. */
export interface Judgement extends Result {
  readonly verdict: Verdict;
}

/** What shows a failure: one lookup, its answer, and what is wrong with it. */
export interface Counterexample {
  readonly verdict: Verdict;
  readonly evidence: Exchange;
  /** Without it, no lookup of the plan has this request. */
  readonly lookup: Lookup | undefined;
}

/** A wrong answer. */
export interface Failure {
  readonly verdict: Verdict & { readonly kind: 'failed' };
  readonly exchange: Exchange;
  readonly facts: Facts;
  /** The lookup of the plan, with the key that was sent; undefined for other requests. */
  readonly lookup?: Lookup | undefined;
  /** Set if it came in a state that a state hook made and undid: it cannot be asked again. */
  readonly isUndone?: true;
}

interface State {
  cases: number;
  readonly course: Course;
  failures: Failure[];
  /** The facts of all of them, one of each kind. */
  readonly failing: Facts[];
  /** 401 for a key that must be accepted. Counts only if the key works elsewhere. */
  refusals: Failure[];
  unanswered?: Unanswered;
  /** The first lookup that was not sent, because of a limiter or a bound. Counts only if no answer came. */
  unsent?: Unanswered;
  /** The first answer that decides nothing. Counts only if no answer decides. */
  unclear?: Judgement;
  /** Whether it passed on an answer that shows a member or an EXECUTED deposit. */
  showedEntity: boolean;
}

/** A lookup that was answered. */
export interface Logged extends Exchange {
  readonly reply: Answer;
  readonly lookup: Lookup;
  /** How often its id was asked for with this key, this time included. */
  readonly asked: number;
}

interface Unanswered extends Exchange {
  readonly reply: Trouble;
}

/** The facts of a lookup, and what its answer shows. */
interface Judged {
  readonly facts: Facts;
  readonly all: readonly Finding[];
}

/** What the answers of a run show about each row. */
export interface Tally {
  readonly known: Known;
  readonly table: Table;
  readonly present: Present;
  /** By id of the row. */
  readonly states: ReadonlyMap<string, State>;
  readonly findings: WeakMap<Answer, readonly Finding[]>;
  readonly history: History;
  /** The lookups of the run that were answered, without those that explain failures. */
  readonly log: Logged[];
  /** Lookups without an answer, of rows that fail as soon as the target answers another lookup. */
  readonly silent: (Unanswered & Pick<Failure, 'facts' | 'lookup'> & { readonly row: AnswerRow })[];
}

const newState = (): State => ({
  cases: 0,
  course: newCourse(),
  failures: [],
  failing: [],
  refusals: [],
  showedEntity: false,
});

const MAX_FAILURES = 5;

/** A long run explains its failures by so many of its lookups. */
const MAX_LOGGED = 10_000;

/**
 * Creates the tally of a run before its first answer.
 *
 * @param rows of this run; wrong answers may belong to other rows of the table
 */
export const createTally = (rows: readonly LookupRow[], known: Known, table: Table): Tally => ({
  known,
  table,
  present: presentOf(known),
  states: new Map(rows.map(({ id }) => [id, newState()])),
  findings: new WeakMap(),
  history: createHistory(known),
  log: [],
  silent: [],
});

/**
 * Judges an answer.
 *
 * @param lookup of the plan, if it was one
 * @param isAgain whether the lookup only confirms a failure
 */
export function addAnswer(
  tally: Tally,
  request: Request,
  answer: Answer,
  lookup?: Lookup,
  isAgain = false,
): readonly Finding[] {
  const { known, table, present, history, log, silent } = tally;
  const isRefused = isLimiterAnswer(request.endpoint, answer);
  const asked = history.add(request);
  const sent = lookup && sentAs(lookup, request, known);
  if (sent !== undefined && !isAgain && log.length < MAX_LOGGED)
    log.push({ request, reply: answer, lookup: sent, asked });
  for (const { row, facts, lookup: lost, ...one } of silent.splice(0)) {
    const expected = row.silenceFails === true ? 'an answer with a status from 400 to 499' : 'an answer';
    const verdict = failed('connection', expected, one.reply.words);
    note(tally, { row, verdict }, facts, one, lost);
  }
  const judged = isRefused || present.state === 'changing' ? undefined : judgedNow(tally, request, answer);
  if (judged === undefined) return [];
  const { facts } = judged;
  let { all } = judged;
  const isOther = present.state === 'changed' && facts.kind !== factsOf(known, request)?.kind;
  const isCorrect = all.every(({ verdict }) => verdict.kind === 'passed');
  const wasRight = history.wasRight(request, isCorrect, isOther ? facts.kind : undefined);
  if (wasRight && !isAgain && !facts.isBecoming) all = asRepetition(all, table.coverOf(facts), isCorrect);
  const exchange = { request, reply: answer };
  if (!isAgain) for (const finding of all) note(tally, finding, facts, exchange, sent);
  tally.findings.set(answer, all);
  return all;
}

/** Judges an answer by what is known at present. */
function judgedNow(
  { table, present: { known } }: Tally,
  request: Request,
  answer: Answer,
): Judged | undefined {
  const facts = factsOf(known, request);
  return facts && { facts, all: table.judge(facts, answer, known) };
}

/** Adds a finding to the state of its row. */
function note(
  { states, present }: Tally,
  { row, verdict }: Finding,
  facts: Facts,
  exchange: Exchange,
  lookup?: Lookup,
): void {
  const state = states.get(row.id);
  if (state === undefined) return;
  const { reply } = exchange;
  if (verdict.kind === 'inconclusive')
    return void (state.unclear ??= { verdict, cases: 0, evidence: exchange });
  state.cases++;
  if (reply.kind === 'answer') countAnswer(state.course, verdict.kind === 'passed', reply);
  if (verdict.kind === 'passed') state.showedEntity ||= reply.kind === 'answer' && showsEntity(reply);
  if (verdict.kind !== 'failed') return;
  const isRefusal = reply.kind === 'answer' && reply.status === 401 && facts.key === 'accepted';
  const list = isRefusal ? state.refusals : state.failures;
  const isUndone = present.state === 'changed' ? (true as const) : undefined;
  if (!state.failing.some(({ kind }) => kind === facts.kind)) state.failing.push(facts);
  list.push(defined({ verdict, exchange, facts, lookup, isUndone }));
  // The sort is stable, so that the first of equal failures stays.
  list.sort((one, other) => rank(one) - rank(other));
  list.splice(MAX_FAILURES);
}

/** The findings of an answer that was judged. */
export const findingsOf = ({ findings }: Tally, answer: Answer): readonly Finding[] =>
  findings.get(answer) ?? [];

/** What an answer shows, without adding it. */
export const verdictsOn = (tally: Tally, request: Request, answer: Answer): readonly Verdict[] =>
  judgedNow(tally, request, answer)?.all.map(({ verdict }) => verdict) ?? [];

/** Whether the rows that a wrong answer would fail have failed by other lookups. */
export function failsAnyway(tally: Tally, request: Request, answer: Answer): boolean {
  const judged = judgedNow(tally, request, answer);
  if (judged === undefined) return false;
  const { repetition } = tally.table.coverOf(judged.facts);
  const failing = judged.all.flatMap(({ row, verdict }) => (verdict.kind === 'failed' ? [row] : []));
  return [...failing, ...(repetition === undefined ? [] : [repetition])].some(
    ({ id }) => (tally.states.get(id)?.failures.length ?? 0) > 0,
  );
}

/** Wrong answers of a row, and refusals of the key under test. Each once: an answer may be wrong in several ways. */
export function wrongAnswersOf({ states }: Tally, { id }: LookupRow): readonly Failure[] {
  const { failures, refusals } = states.get(id)!;
  return [...new Map([...failures, ...refusals].map((one) => [one.exchange.reply, one])).values()];
}

/** What is explained first of a row. That a key is refused tells something of a lookup only if the key works. */
export const failureToExplain = (tally: Tally, row: LookupRow, keyWorks: boolean): Failure | undefined =>
  [...failuresOf(tally, row), ...(keyWorks ? tally.states.get(row.id)!.refusals : [])].find(
    ({ isUndone }) => isUndone !== true,
  );

/** Forgets a failure of a row: another row reports it. */
export function excuse({ states }: Tally, id: string, reply: Reply): void {
  const state = states.get(id);
  const isOther = ({ exchange }: Failure) => exchange.reply !== reply;
  if (state === undefined) return;
  state.failures = state.failures.filter(isOther);
  state.refusals = state.refusals.filter(isOther);
}

/** The sender may have chosen the caller's second key. */
function sentAs(lookup: Lookup, { credential }: Request, { callerKeys }: Known): Lookup {
  const { levels } = lookup;
  const isSecond =
    levels.key === 'active' && credential.as === 'key' && credential.key.key !== callerKeys[0]?.key;
  return isSecond ? { ...lookup, levels: { ...levels, 'active key': 'second' } } : lookup;
}

/**
 * Failures of a row, those of the plainest lookups first. Those of a special case belong to a more general row if that
 * fails too, in the same aspect, without the special case.
 */
export function failuresOf({ states, table }: Tally, row: LookupRow): readonly Failure[] {
  const failures = kept(states, row);
  if (row.kind !== 'refinement' && (row.kind !== 'answer' || row.refines === undefined)) return failures;
  const covers = (facts: Facts) => row.when(facts) || row.also?.(facts) === true;
  return failures.filter(({ facts, verdict: { aspect } }) =>
    generalRows(row, table.coverOf(facts)).every((id) =>
      (states.get(id)?.failures ?? []).every(
        (other) => other.verdict.aspect !== aspect || covers(other.facts),
      ),
    ),
  );
}

/** Failures of a row without those that have the cause of another row's. */
function kept(states: Tally['states'], row: LookupRow): readonly Failure[] {
  const { failures } = states.get(row.id)!;
  if (row.kind !== 'answer' || row.leaves === undefined) return failures;
  const { when, to } = row.leaves;
  return states.get(to)?.failing.some(when) === true
    ? failures.filter(({ facts }) => !when(facts))
    : failures;
}

/** Ids of the rows of which a row is a special case, for these lookups. */
function generalRows(row: AnswerRow | Refinement, { right, refinements }: Cover): readonly string[] {
  const named = row.refines === true ? [] : (row.refines ?? []);
  if (row.kind === 'answer' && row.refines !== true) return named;
  const plain = right.filter((one) => one.isPlain && one.row !== row).map((one) => one.row.id);
  return [...named, ...plain, ...(row.refines === true ? refinements.map((one) => one.row.id) : [])];
}

export const isLate = (reply: Reply) => reply.kind === 'trouble' && reply.code === 'timeout';

const rank = ({ exchange: { reply }, lookup }: Failure) => oddness(lookup) + (isLate(reply) ? 1000 : 0);
