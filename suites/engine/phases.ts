import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { drawAt } from '../model/path.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import { longestWindowMs, wakeAll } from '../limits/limiter.ts';
import type { Request } from '../request.ts';
import { explain } from '../explain/explain.ts';
import { preflight } from './preflight.ts';
import { isSoonExecuted } from './schedule.ts';
import {
  beginScenarios,
  finish,
  finishStopped,
  report,
  runScenarios,
  stopOf,
  timed,
  type RunState,
} from './run-state.ts';
import { recordUnanswered, sendLookups, type LookupsToSend } from './send-lookups.ts';
import { excuse, failureToExplain, judgementOf, verdictsOn, wrongAnswersOf, type Failure } from './tally.ts';

/** A part of a run. */
interface Phase {
  readonly name: string;
  readonly run: (state: RunState) => Promise<void>;
}

/** The parts of a run, in order. */
export const phases: readonly Phase[] = [
  { name: 'preflight', run: reach },
  { name: 'one lookup', run: replay },
  { name: 'lookups', run: walkBoth },
  { name: 'failures in company', run: excuseCompany },
  { name: 'explain failures', run: explainLookups },
  { name: 'scenarios', run: (state) => runAll(state, state.scenarios.lanes) },
  { name: 'triples', run: sendTriples },
  { name: 'failures in company, of triples', run: excuseCompany },
  { name: 'explain failures of triples', run: explainLookups },
  { name: 'state changes', run: (state) => runAll(state, [state.scenarios.alone]) },
  { name: 'rate limits', run: crossLimits },
  { name: 'explain failures of rate limits', run: explainFailures },
  { name: 'failures in company, of scenarios', run: excuseCompany },
  { name: 'verdicts', run: judge },
];

const isWhole = ({ options, rows, stopped }: RunState) =>
  stopped === undefined && options.path === undefined && rows.length > 0;

/** Checks that the target answers, and judges what cannot be checked. */
async function reach(state: RunState): Promise<void> {
  const { options, sender, known, evaluation } = state;
  state.stopped = await preflight(sender, known, options.target.href, options.ifRefused);
  for (const requirement of options.requirements) {
    const early = evaluation.earlyResult(requirement);
    if (early !== undefined) finish(state, requirement, early);
  }
}

/** Sends the lookup of --replay. */
async function replay(state: RunState): Promise<void> {
  const { options, sender, known, stopped } = state;
  const { path, seed } = options;
  if (path === undefined || stopped !== undefined) return;
  const request = drawAt(path, known, seed);
  for (let times = path.includes('repetition=') ? 3 : 1; times > 0; times--) {
    const { reply } = await sender.send(request, { of: 'lookups', path });
    if (reply.kind === 'trouble') await recordUnanswered(state, request, reply);
  }
}

/** Pairs of each endpoint after which the scenario about concurrency joins. */
const PAIRS_BEFORE_CROWD = 40;

/** With fewer requests left, lookups show more than the required scenarios of an endpoint. */
const FEW_LEFT = 110;

/** Requests that the lookups of an endpoint leave for half of the scenario about concurrency. */
const HELD = 25;

/** Each endpoint sends its lookups by itself: one may wait for its limiter while the other goes on. */
async function walkBoth(state: RunState): Promise<void> {
  const { options, known } = state;
  if (!isWhole(state)) return;
  const early = atOnceAll(() => beginScenarios(state));
  if (options.maxRequests === Infinity) {
    early.begin();
    // Lookups use up a limit before deposits become EXECUTED.
    if (isSoonExecuted(known) && isScarce(state)) await early.work();
  }
  const crowd = atOnceAll(() => runScenarios(state, requiredOf(state, 'service')));
  await Promise.all(
    endpointNames.map((endpoint) =>
      walk(state, endpoint, {
        // Lookups may use up what the crowd needs.
        onRequired: () => {
          crowd.begin();
          return crowd.work();
        },
        onLevels: () => {
          if (endpoint === 'deposit-check') early.begin();
          if (!isScarce(state)) return undefined;
          crowd.begin();
          return endpoint === 'user-status' ? undefined : crowd.work();
        },
        onPairs: () => crowd.reach(endpoint),
      }),
    ),
  );
  await crowd.work();
}

/** Whether a limit makes the run wait long: what needs little of it does not come after what uses it up. */
const isScarce = ({ limiter }: RunState) =>
  endpointNames.some((endpoint) => longestWindowMs(limiter, endpoint) > SHORT_WAIT_MS);

const requiredOf = ({ scenarios }: RunState, endpoint: Endpoint | 'service') =>
  scenarios.lanes.flat().filter((one) => one.endpoint === endpoint && one.level === 'required');

/** Work that starts once both endpoints have come so far, or before. */
function atOnceAll(start: () => Promise<void>) {
  const reached = new Set<Endpoint>();
  let work: Promise<void> | undefined;
  const begin = () => void (work ??= start());
  return {
    begin,
    reach: (endpoint: Endpoint): void => {
      reached.add(endpoint);
      if (reached.size === endpointNames.length) begin();
    },
    work: () => work,
  };
}

/** What starts while lookups are sent. */
interface Milestones {
  /** Each required requirement was tried. Further lookups wait for the result. */
  readonly onRequired: () => Promise<void> | undefined;
  /** Each level was tried. Further lookups wait for the result. */
  readonly onLevels: () => Promise<void> | undefined;
  /** Enough pairs were tried. */
  readonly onPairs: () => void;
}

/** Sends the lookups of an endpoint. */
async function walk(
  state: RunState,
  endpoint: Endpoint,
  { onRequired, onLevels, onPairs }: Milestones,
): Promise<void> {
  const { options, budget } = state;
  const onSent = (sent: number) => {
    if (sent === PAIRS_BEFORE_CROWD) onPairs();
  };
  const send = (name: string, more: Omit<LookupsToSend, 'endpoint'>) =>
    timed(state, name, () => sendLookups(state, { endpoint, ...more }), endpoint);
  const sendRequired = () =>
    timed(state, 'required scenarios', () => runScenarios(state, requiredOf(state, endpoint)), endpoint);
  await send('one lookup for each requirement', { ranks: ['requirement'] });
  // A limit that nobody states is known only once lookups have used it up.
  if (options.maxRequests === Infinity || isScarce(state)) {
    await sendRequired();
    await onRequired();
  }
  // While levels wait for a limiter, pairs that do not count go on.
  let isBehind = true;
  const ranks = ['pair', 'example'] as const;
  const pairs = atOnceAll(() => send('pairs and examples', { ranks, onSent, isBehind: () => isBehind }));
  const onLongWait = () => {
    if (options.maxRequests === Infinity) pairs.begin();
  };
  await send('every level', { ranks: ['level'], onLongWait });
  if (isScarce(state)) await sendRequired();
  await onLevels();
  isBehind = false;
  wakeAll(state.limiter);
  const held = options.maxRequests - budget.spent() < FEW_LEFT ? 0 : HELD;
  if (held > 0) await sendRequired();
  budget.hold(held);
  pairs.begin();
  await pairs.work();
  budget.hold(-held);
  onPairs();
  await sendRequired();
}

async function sendTriples(state: RunState): Promise<void> {
  if (!isWhole(state)) return;
  const ranks = ['triple'] as const;
  const what = { ranks, longestWaitMs: SHORT_WAIT_MS };
  await Promise.all(endpointNames.map((endpoint) => sendLookups(state, { endpoint, ...what })));
}

/** Runs scenarios in lanes that run concurrently. */
async function runAll(state: RunState, lanes: RunState['scenarios']['lanes']): Promise<void> {
  await Promise.all(lanes.map((lane) => runScenarios(state, lane)));
}

/** Lookups alone that show that only company makes an answer wrong. */
const LOOKUPS_ALONE = 10;

/** If lookups in flight at once get wrong answers, that is no failure of rows whose lookups are right alone. */
async function excuseCompany(state: RunState): Promise<void> {
  const { results, rows, tally, sender, budget } = state;
  const isCrowded = [...results].some(
    ([row, { outcome }]) => row.kind === 'scenario' && row.judgesConcurrency === true && outcome === 'failed',
  );
  if (!isCrowded || !isWhole(state)) return;
  for (const row of rows)
    for (const { exchange, isUndone } of wrongAnswersOf(tally, row)) {
      const { request, reply } = exchange;
      let isRight = true;
      // What was undone cannot be asked for again.
      const most = isUndone === true ? 0 : LOOKUPS_ALONE;
      for (let nth = 0; nth < most && isRight; nth++) {
        if (budget.ended() !== undefined) return;
        const again = (await sender.send(request, { of: row.id, isAgain: true })).reply;
        isRight =
          again.kind === 'answer' && verdictsOn(tally, request, again).every(({ kind }) => kind !== 'failed');
      }
      if (isRight) excuse(tally, row.id, reply);
    }
}

function crossLimits(state: RunState): Promise<void> {
  return runAll(state, [state.scenarios.limiters]);
}

const MAX_EXPLAINING = 2000;

/** Explains failures of lookups. Those of other requests wait for the end: a lookup that fails too tells more. */
function explainLookups(state: RunState): Promise<void> {
  return explainFailures(state, ({ origin }) => origin !== undefined);
}

/** Confirms each failure and finds out under which conditions it happens. */
async function explainFailures(
  state: RunState,
  isWanted: (failure: Failure) => boolean = () => true,
): Promise<void> {
  const { options, rows, tally, explained, startedAt, known, sender, budget, lookupsEndAt } = state;
  const { clock, maxDurationMs, seed } = options;
  if (options.isBrief === true || !isWhole(state)) return;
  const now = clock.now();
  const endsAt = Math.min(Math.max(lookupsEndAt, startedAt + maxDurationMs / 2), now + maxDurationMs / 4);
  const send = (of: string) => (request: Request) => {
    state.explaining++;
    // Always use the same key: it may be the condition.
    const [key] = known.callerKeys;
    const isCaller = request.credential.as === 'caller' && key !== undefined;
    const sent: Request = isCaller ? { ...request, credential: { as: 'key', key } } : request;
    const until = Math.min(endsAt, clock.now() + SHORT_WAIT_MS);
    return sender.send(sent, { of, isAgain: true, until });
  };
  for (const row of rows) {
    const { id } = row;
    const failure = failureToExplain(tally, row, sender.keyWorks() === true);
    if (failure === undefined || explained.has(id) || !isWanted(failure)) continue;
    report(state, id);
    const isOver = () => state.explaining > MAX_EXPLAINING || budget.ended(endsAt) !== undefined;
    explained.set(id, await explain(row, failure, { known, seed, tally, send: send(id), isOver }));
  }
}

/** Judges what the lookups of the run have shown. */
async function judge(state: RunState): Promise<void> {
  const { options, rows, results, tally, budget, sender, explained, evaluation, stopped } = state;
  const isCut = budget.ended() !== undefined || options.cases < 100;
  for (const row of rows) {
    if (results.has(row)) continue;
    const why = stopOf(state);
    const judgement = judgementOf(tally, row, sender.keyWorks(), isCut, explained.get(row.id));
    if (why !== undefined && judgement.cases === 0) finishStopped(state, row, why);
    else finish(state, row, judgement);
  }
  for (const requirement of options.requirements) {
    if (requirement.kind !== 'monitor' || results.has(requirement)) continue;
    const seen = evaluation.monitorResult(requirement);
    if (stopped === undefined || seen.verdict.kind === 'failed') finish(state, requirement, seen);
    else finishStopped(state, requirement, stopped);
  }
}
