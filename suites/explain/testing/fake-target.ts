import { readFileSync } from 'node:fs';
import type { Fixture } from '../../../schemas/generated/types.ts';
import type { Endpoint } from '../../../schemas/endpoints.ts';
import type { Answer, Reply } from '../../answer.ts';
import { catalogue, table } from '../../requirements/catalogue.ts';
import { addAnswer, createTally, failuresOf, type Failure } from '../../judging/tally.ts';
import { factsOf } from '../../rules/facts-of-request.ts';
import { knownFrom } from '../../known.ts';
import { plainLevels } from '../../plan/factors.ts';
import { lookupAt, type Lookup, type Place } from '../../plan/lookup.ts';
import { idOf, type Request } from '../../request.ts';
import { isLookupRow, type Levels } from '../../rules/requirement.ts';
import { answerOf } from '../../testing/samples.ts';
import type { ExplainContext } from '../probe.ts';

const fixture = new URL('../../../schemas/built-in.fixture.json', import.meta.url);
export const known = knownFrom(JSON.parse(readFileSync(fixture, 'utf8')) as Fixture);
export const rows = catalogue.filter(isLookupRow);
export const rowOf = (id: string) => rows.find((row) => row.id === id)!;
export const readingOf = (request: Request) => table.coverOf(factsOf(known, request)!).right[0]!;
export const seed = 7;

/** The answer of the plain reading, by its name. */
function right(request: Request): Answer {
  const facts = factsOf(known, request);
  // The interface says nothing about HEAD.
  if (facts === undefined) return answerOf(405, '');
  const { user, deposit } = facts;
  const isUser = request.endpoint === 'user-status';
  const answers: Readonly<Record<string, () => Answer>> = {
    member: () => answerOf(200, { is_under_ib: true, date_joined: user!.date_joined }),
    'not a member': () => answerOf(200, { is_under_ib: false, date_joined: null }),
    EXECUTED: () => {
      const { state, amountInUsd, executedAt } = deposit!;
      return answerOf(200, { status: state, amountInUsd, executedAt });
    },
    'not found': () => answerOf(404, { error: 'Deposit not found' }),
    invalid: () => answerOf(400, { error: `Invalid ${isUser ? 'user_id' : 'reference_id'} format` }),
    unauthorized: () => answerOf(401, { error: isUser ? 'Unauthorized' : 'UNAUTHORIZED' }),
  };
  return answers[readingOf(request).answer.name]!();
}

/** What a faulty target does: a wrong answer, no answer, or what is right. */
export type Wrong = (request: Request, nth: number) => Reply | undefined;

/**
 * A run against a target with some wrong answers, and its first failure.
 *
 * @param others levels of lookups that are sent before, and the number of their example
 */
export function failingRun(
  id: string,
  levels: Partial<Levels>,
  wrong: Wrong,
  at: Place = { draw: 0 },
  others: readonly (readonly [Partial<Levels>, number])[] = [],
) {
  const endpoint = id.split('/')[1] as Endpoint;
  const tally = createTally(rows, known, table);
  let sent = 0;
  const send = (request: Request, lookup?: Lookup) => {
    const reply = wrong(request, sent++) ?? right(request);
    if (reply.kind === 'answer') addAnswer(tally, request, reply, lookup, lookup === undefined);
    else tally.history.add(request);
    return Promise.resolve({ request, reply });
  };
  const sendOf = (some: Partial<Levels>, where: typeof at) => {
    const lookup = lookupAt(endpoint, { ...plainLevels(endpoint), ...some }, where, { known, seed });
    void send(lookup.request, lookup);
  };
  for (const [some, pick] of others) sendOf(some, { pick });
  // A lookup may fail only when it is asked for again.
  for (let left = 3; left === 3 || (left > 0 && failuresOf(tally, rowOf(id)).length === 0); left--)
    sendOf(levels, at);
  const failure: Failure | undefined = failuresOf(tally, rowOf(id))[0];
  if (failure === undefined) throw new Error(`${id} does not fail`);
  const context: ExplainContext = {
    known,
    seed,
    tally,
    send: (request) => send(request),
    isOver: () => false,
  };
  return { failure, context, sent: () => sent };
}

/** Counts requests with the same name: by default, those of the same id. */
export function countBy(nameOf: (request: Request) => string = idOf) {
  const counts = new Map<string, number>();
  return (request: Request): number => {
    const times = (counts.get(nameOf(request)) ?? 0) + 1;
    counts.set(nameOf(request), times);
    return times;
  };
}
