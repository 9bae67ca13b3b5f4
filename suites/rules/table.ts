import { endpointNames, messageOf } from '../../schemas/endpoints.ts';
import type { Answer } from '../answer.ts';
import { fieldsOf } from './expectations.ts';
import type { Facts } from './facts.ts';
import { everyKind } from './kinds.ts';
import type { Known } from '../known.ts';
import { showsEntity, type NamedAnswer } from './named-answers.ts';
import type { AnswerRow, LookupRow, Property, Refinement, Repetition } from './requirement.ts';
import { pass, type Verdict } from './verdict.ts';

/** What an answer shows about a row. */
export interface Finding {
  readonly row: LookupRow;
  readonly verdict: Verdict;
}

/** A right answer to a lookup, and the row that asks for it. */
export interface RightAnswer {
  readonly row: AnswerRow;
  readonly answer: NamedAnswer;
  /** Whether it is the plain reading. Otherwise it is right too, because the interface is silent. */
  readonly isPlain: boolean;
}

/** What the catalogue says about lookups of one kind. */
export interface Cover {
  /** Those of the plain reading come first. */
  readonly right: readonly RightAnswer[];
  readonly refinements: readonly { readonly row: Refinement; readonly isPlain: boolean }[];
  readonly properties: readonly Property[];
  readonly repetition: Repetition | undefined;
  /** All rows that are about these lookups, without those that only allow another answer. */
  readonly rows: readonly LookupRow[];
}

/** The catalogue as a table: from facts to rows, and from an answer to what it breaks. */
export type Table = ReturnType<typeof tableOf>;

/** @throws Error if no row says what a kind of lookup is answered, or that it is repeatable: a bug of ours */
export function tableOf(rows: readonly LookupRow[]) {
  for (const facts of endpointNames.flatMap(everyKind)) {
    const { right, repetition } = coverFrom(rows, facts);
    if (!right.some(({ isPlain }) => isPlain)) throw new Error(`no row answers: ${facts.kind}`);
    if (repetition === undefined) throw new Error(`no row repeats: ${facts.kind}`);
  }
  const covers = new Map<string, Cover>();
  const coverOf = (facts: Facts): Cover => {
    const before = covers.get(facts.kind);
    if (before !== undefined) return before;
    const cover = coverFrom(rows, facts);
    covers.set(facts.kind, cover);
    return cover;
  };
  return {
    coverOf,
    /** Judges an answer by every row that covers its lookup. A wrong answer fails one row. */
    judge: (facts: Facts, answer: Answer, known: Known): readonly Finding[] => {
      const cover = coverOf(facts);
      const findings = answerFindings(cover, facts, answer);
      for (const row of cover.properties) {
        const verdict = row.holds(answer, facts, known);
        if (verdict !== undefined && verdict.kind !== 'inconclusive') findings.push({ row, verdict });
      }
      return findings;
    },
  };
}

function coverFrom(rows: readonly LookupRow[], facts: Facts): Cover {
  const right: RightAnswer[] = [];
  const refinements: Cover['refinements'][number][] = [];
  const properties: Property[] = [];
  const plain: LookupRow[] = [];
  let repetition: Repetition | undefined;
  for (const row of rows) {
    const isPlain = row.when(facts);
    if (isPlain) plain.push(row);
    if (!isPlain && !('also' in row && row.also?.(facts))) continue;
    if (row.kind === 'answer') {
      const answer = typeof row.answer === 'function' ? row.answer(facts) : row.answer;
      right.push({ row, answer, isPlain });
    } else if (row.kind === 'refinement') refinements.push({ row, isPlain });
    else if (row.kind === 'property') properties.push(row);
    else repetition = row;
  }
  right.sort((one, other) => precedence(one) - precedence(other));
  return { right, refinements, properties, repetition, rows: plain };
}

/**
 * The plain reading comes first. Of several rows, the one that judges more than a special case comes first, then the
 * one whose answer shows an entity.
 */
const precedence = ({ row, isPlain, answer }: RightAnswer) =>
  (isPlain ? 0 : 6) +
  (row.refines === true ? 4 : row.owns === 'leak' ? 2 : 0) +
  (answer.shows === 'entity' ? 0 : 1);

function answerFindings(cover: Cover, facts: Facts, answer: Answer): Finding[] {
  const { right, refinements } = cover;
  const given = right.filter((one) => one.answer.expect(facts)(answer).kind === 'passed');
  if (given.length === 0) {
    const { row, base } = ownerOf(cover, facts, answer);
    return [{ row, verdict: base.answer.expect(facts)(answer) }];
  }
  const findings: Finding[] = given.map(({ row }) => ({ row, verdict: pass }));
  if (given.some(({ isPlain }) => isPlain))
    for (const { row, isPlain } of refinements) if (isPlain) findings.push({ row, verdict: pass });
  for (const one of right) {
    if (!one.isPlain || given.includes(one)) continue;
    const { row } = one;
    // A key that may be refused says nothing about advice.
    if (row.level === 'recommended' && facts.key === 'accepted')
      findings.push({ row, verdict: one.answer.expect(facts)(answer) });
    if (row.otherwise !== undefined) findings.push({ row, verdict: row.otherwise });
  }
  return findings;
}

/**
 * The row that a wrong answer breaks: the one with the same message, then with the same status, then the one that has
 * read the id, then the plain reading. A refinement takes the answer from the plain reading.
 */
function ownerOf({ right, refinements }: Cover, facts: Facts, answer: Answer) {
  const [main] = right as readonly [RightAnswer];
  const isLeak = showsEntity(answer) && main.answer.shows !== 'entity';
  const base =
    (isLeak ? right.find(({ row }) => row.owns === 'leak') : undefined) ?? closest(right, facts, answer);
  const isTaken =
    base.isPlain &&
    (meantStatus(answer, base) === 400 ||
      (base.answer.shows === 'entity' && meantStatus(answer, base) !== 401));
  const covering = isTaken ? refinements.map(({ row }) => row) : [];
  const row = covering.find(({ id }) => !covering.some(({ refines }) => refines?.includes(id))) ?? base.row;
  return { row, base };
}

function closest(right: readonly RightAnswer[], facts: Facts, answer: Answer): RightAnswer {
  const [main] = right as readonly [RightAnswer];
  const words = fieldsOf(answer)?.['error'];
  const status = meantStatus(answer, main);
  return (
    right.find((one) => one.answer.isError && messageOf(facts.endpoint, one.answer.status) === words) ??
    right.find((one) => one.answer.status === status) ??
    (status < 300 ? right.find((one) => one.answer.readsId) : undefined) ??
    main
  );
}

/** 422 counts as 400, and 403 as 401 unless it may hide data of others. */
function meantStatus({ status }: Answer, plain: RightAnswer): number {
  if (status === 403 && plain.answer.shows !== 'nothing') return 401;
  return status === 422 ? 400 : status;
}
