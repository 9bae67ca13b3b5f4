import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Requirement } from '../requirement.ts';
import type { Observation, Verdict } from '../verdict.ts';
import type { Delivery } from './courier.ts';
import { recordExchange, redactor } from './evidence.ts';
import type { RunOptions } from './run-options.ts';
import { countOutcomes, verdictOf } from './verdict-of-run.ts';

/** What a requirement came to. */
export interface Result {
  readonly verdict: Verdict | Observation | { readonly kind: 'broken'; readonly words: string };
  /** Distinct inputs that were judged. */
  readonly cases: number;
  /** Distinct inputs that were to be judged, where not all of them were. */
  readonly planned?: number;
  readonly evidence?: Delivery;
  readonly path?: string;
}

/** What the engine counted. Times are ms. */
interface Figures {
  readonly startedAt: number;
  readonly durationMs: number;
  readonly requests: number;
  readonly rateLimited: RunRecord['rateLimited'];
  /** Whether the key under test was ever answered with anything but 401; undefined before it was used. */
  readonly keyWorks: boolean | undefined;
}

/** Puts everything that a run found into its record. No key appears in it by its value. */
export function makeRecord(
  options: RunOptions,
  results: ReadonlyMap<Requirement, Result>,
  figures: Figures,
): RunRecord {
  const { known, target, requirements } = options;
  const { startedAt, keyWorks, ...rest } = figures;
  const redact = redactor(known);
  const resultOf = (requirement: Requirement): RequirementResult =>
    describe(requirement, results.get(requirement)!, options, redact);
  const list = requirements.map(resultOf);
  const refused =
    keyWorks === false
      ? [
          `The target answers every request of ${known.callerKeys[0]?.name ?? 'the key'} with 401: is it the key of an active partner there?`,
        ]
      : [];
  return {
    format: 'ib-conformance/run/1',
    version: options.version,
    verdict: verdictOf(list),
    target: redact(target.href),
    ...(known.partner === undefined ? {} : { partner: known.partner }),
    seed: options.seed,
    startedAt: new Date(startedAt).toISOString(),
    ...rest,
    cases: options.cases,
    interrupted: options.signal.aborted,
    notes: [...(options.notes ?? []), ...refused, ...cutNote(list)],
    ...(options.rerun === undefined ? {} : { rerun: options.rerun }),
    counts: countOutcomes(list),
    requirements: list,
  };
}

/** Says that a run was not as deep as it was asked to be. */
function cutNote(list: readonly RequirementResult[]): readonly string[] {
  const cut = list.filter(({ planned }) => planned !== undefined);
  if (cut.length === 0) return [];
  const tried = cut.reduce((sum, { cases }) => sum + cases, 0);
  const planned = cut.reduce((sum, result) => sum + result.planned!, 0);
  return [
    `Shallower than asked for: ${cut.length} requirements passed on ${tried} of ${planned} inputs, for want of time or requests (--max-duration, --max-requests). Each had one input at least before any had more.`,
  ];
}

function describe(
  requirement: Requirement,
  result: Result,
  { seed, target }: RunOptions,
  redact: (text: string) => string,
): RequirementResult {
  const { id, level, clause, title, reading } = requirement;
  const { verdict, cases } = result;
  const isCut = result.planned !== undefined && verdict.kind === 'held';
  const subject = {
    id,
    level,
    clause,
    title,
    ...(reading === undefined ? {} : { reading }),
    cases,
    ...(isCut ? { planned: result.planned } : {}),
  };
  const proof =
    result.evidence === undefined
      ? {}
      : { counterexample: recordExchange(result.evidence, target.href, redact) };
  const replay = result.path === undefined ? {} : { replay: { seed, path: result.path } };
  switch (verdict.kind) {
    case 'held':
      return { ...subject, outcome: 'passed' };
    case 'failed':
      return {
        ...subject,
        outcome: 'failed',
        aspect: verdict.aspect,
        expected: redact(verdict.expected),
        actual: redact(verdict.actual),
        ...proof,
        ...replay,
      };
    case 'unjudged':
      return {
        ...subject,
        outcome: 'inconclusive',
        reason: verdict.reason,
        words: redact(verdict.words),
        ...proof,
        ...replay,
      };
    case 'excluded':
      return { ...subject, outcome: 'excluded', reason: verdict.reason, words: verdict.words };
    case 'broken':
      return { ...subject, outcome: 'broken', words: redact(verdict.words) };
    case 'observed':
      return {
        ...subject,
        outcome: 'observed',
        words: redact(verdict.words),
        ...(verdict.data === undefined ? {} : { data: redactData(verdict.data, redact) }),
      };
  }
}

function redactData(
  data: Record<string, unknown>,
  redact: (text: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      redact(name),
      typeof value === 'string' ? redact(value) : value,
    ]),
  );
}
