import { setMaxListeners } from 'node:events';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { redactError } from '../../schemas/redact.ts';
import { reserveOf, limiterMs, limiterRequests } from '../limiter/limit.ts';
import { createCoverage } from '../model/coverage.ts';
import type { Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import { expectedOf } from '../model/model.ts';
import { lookupOf, type Request } from '../request.ts';
import { suiteOf, type Requirement, type Rule, type Scenario } from '../requirement.ts';
import { inconclusive } from '../verdict.ts';
import { createBudget } from './budget.ts';
import { createClient } from './client.ts';
import { createSender } from './sender.ts';
import { createContexts } from './context.ts';
import { redactor } from './evidence.ts';
import { explain } from './explain.ts';
import { MAX_IN_FLIGHT } from './context.ts';
import { createEvaluation } from './evaluation.ts';
import type { Judgement } from './judge.ts';
import { drawAt } from '../model/path.ts';
import { createLookups, type Lookup } from './lookups.ts';
import { preflight } from './preflight.ts';
import { createQuota, type Quota } from './quota.ts';
import { createDescriber, makeRecord, type Figures, type Result } from './record.ts';
import type { RunOptions } from './run-options.ts';
import { schedule } from './schedule.ts';
import { createTraffic } from './traffic.ts';

const MAX_EXPLAINING = 2000;

/**
 * Checks a target against the requirements.
 *
 * @throws Problem with code `unreachable` if the target cannot be reached
 */
export async function run(options: RunOptions): Promise<RunRecord> {
  const { clock, known, requirements, signal, concurrency, seed, cases, onEvent } = options;
  const startedAt = clock.now();
  const deadline = startedAt + options.maxDurationMs;
  // Every request and every wait adds a listener.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  // Real time, even with a virtual clock.
  const begun = performance.now();
  const client = (options.connect ?? createClient)({
    ...options.tls,
    ...options,
    connections: MAX_IN_FLIGHT,
    signal,
    now: clock.now,
    deadline,
  });
  const asked = requirements.filter(({ id }) => !options.skip.has(id));
  const rules = asked.filter((requirement): requirement is Rule => requirement.kind === 'rule');
  const evaluation = createEvaluation({ ...options, hasStateHook: options.stateHook !== undefined });
  const traffic = createTraffic(startedAt);
  const { judge } = evaluation;
  const limiters = asked.filter((requirement) => suiteOf(requirement) === 'rate-limit');
  const budget = createBudget({
    ...options,
    deadline,
    reserved: reserveOf(limiterRequests(limiters, known), options.maxRequests),
  });
  const quota = createQuota({ ...options, budget, limits: known.limits, deadline });
  // A target that stalls once loses all requests in flight, of both endpoints.
  const maxLost = Math.max(10, 4 * concurrency);
  const sender = createSender({
    ...options,
    client,
    budget,
    quota,
    deadline,
    maxLostInARow: maxLost,
    onExchange: (exchange) => {
      onEvent?.({ kind: 'exchange', ...exchange });
      traffic.add(exchange.request, exchange.reply);
      evaluation.addExchange(exchange);
    },
  });
  /** Lookups end early enough to leave time for the rate-limit suite. */
  const depthEndsAt = () =>
    deadline - limiterMs(limiters, known, options.maxDurationMs, quota.learned(), options.rate);
  const results = new Map<Requirement, RequirementResult>();
  const recordOptions = { ...options, target: options.target.href };
  const describe = createDescriber(recordOptions);
  const finish = (requirement: Requirement, outcome: Result) => {
    const result = describe(requirement, outcome);
    results.set(requirement, result);
    onEvent?.({ kind: 'outcome', result });
  };
  const coverage = createCoverage(known);
  const report = (requirement: string) =>
    options.onProgress?.({
      done: results.size,
      total: requirements.length,
      requirement,
      requests: budget.spent(),
      elapsedMs: performance.now() - begun,
      maxDurationMs: options.maxDurationMs,
      maxRequests: options.maxRequests,
    });
  onEvent?.({ kind: 'start', at: startedAt });
  try {
    const preflightStop = await preflight(sender, known, options.target.href, options.ifRefused);
    const canary = preflightStop === undefined && !signal.aborted ? await options.onReached?.() : undefined;
    const stopReason = () =>
      preflightStop ??
      (signal.aborted ? { reason: 'interrupted' as const, words: 'the run was interrupted' } : undefined);
    const contextOf = createContexts({ ...options, sender, deadline });
    for (const requirement of requirements) {
      const early = evaluation.earlyResult(requirement);
      if (early !== undefined) finish(requirement, early);
    }
    const stop = (requirement: Requirement, why: NonNullable<ReturnType<typeof stopReason>>) => {
      onEvent?.({ kind: 'stopped', of: requirement.id, ...why });
      finish(requirement, { verdict: inconclusive(why.reason, why.words), cases: 0 });
    };
    const runAll = async (scenarios: readonly Scenario[]) => {
      for (const scenario of scenarios) {
        if (results.has(scenario)) continue;
        report(scenario.id);
        const why = stopReason();
        if (why === undefined)
          finish(scenario, await evaluation.runScenario(scenario, contextOf(scenario.id)));
        else stop(scenario, why);
      }
    };

    const recordUnanswered = async (request: Request, trouble: Trouble, path: string) => {
      onEvent?.({ kind: 'missed', path, trouble });
      judge.addMissing(request, trouble);
      const isSilent = trouble.code === 'network' || trouble.code === 'timeout';
      // If the target answers this lookup, the hostile one caused the silence.
      if (isSilent && expectedOf(known, request)?.hostile !== undefined)
        await sender.send(lookupOf(request.endpoint, findableId(request.endpoint, known)));
    };
    /** Whether a lookup timed out twice: later ones are not retried, because each would take as long. */
    let isHanging = false;
    /**
     * Sends a lookup as often as its row says. If `lost` is given, lookups without an answer go there.
     *
     * @returns whether to go on with the next lookup
     */
    const send = async (lookup: Lookup, until?: number, lost?: Lookup[]): Promise<boolean> => {
      const { request, times, origin, endpoint, strength } = lookup;
      for (let nth = 0; nth < times; nth++) {
        const exchange = await sender.send(request, { of: 'lookups', path: origin.path, until });
        const { reply } = exchange;
        if (reply.kind === 'trouble') {
          // Each level must be tried. For further combinations, the strength of the run shows what is missing.
          const isUntried = reply.code === 'budget' || reply.code === 'rate-limited';
          const isLost = reply.code === 'network' || (reply.code === 'timeout' && !isHanging);
          if (isLost && lost !== undefined && lost.length < maxLost) {
            lost.push(lookup);
            return true;
          }
          isHanging ||= reply.code === 'timeout';
          if (!isUntried || strength <= 1) await recordUnanswered(exchange.request, reply, origin.path);
          return !isUntried && reply.code !== 'interrupted';
        }
      }
      coverage.take(endpoint, origin.levels);
      return true;
    };
    /** Sends lookups concurrently, then those that must be alone. */
    const sendLists = async (
      lists: readonly (readonly Lookup[])[],
      until: number | undefined,
      lost?: Lookup[],
    ) => {
      const sendInTurn = async (lookups: Iterable<Lookup>) => {
        for (const one of lookups) if (!(await send(one, until, lost)) && one.strength > 1) return;
      };
      await Promise.all(
        lists.flatMap((list) => {
          // All workers share this iterator.
          const rest = list.filter(({ isAlone }) => !isAlone).values();
          return Array.from({ length: concurrency }, () => sendInTurn(rest));
        }),
      );
      await sendInTurn(lists.flat().filter(({ isAlone }) => isAlone));
    };
    /** Sends lookups, and the lost ones again: a bad network loses some even with retries, and a target may stall. */
    const sendAll = async (lists: readonly (readonly Lookup[])[], until?: number) => {
      const lost: Lookup[] = [];
      await sendLists(lists, until, lost);
      await sendLists([lost], until);
    };

    const explained = new Map<string, Partial<Judgement>>();
    let explaining = 0;
    const explainAll = async () => {
      if (options.isBrief === true) return;
      // Leave time for the remaining lookups.
      const endsAt = Math.min(
        Math.max(depthEndsAt(), startedAt + options.maxDurationMs / 2),
        clock.now() + options.maxDurationMs / 4,
      );
      for (const { id } of rules) {
        const [failure] = judge.failures(id);
        if (failure === undefined || explained.has(id)) continue;
        report(id);
        const found = await explain(id, failure, {
          known,
          seed,
          judge,
          send: (request) => {
            explaining++;
            // Always use the same key: it may be the condition.
            const [key] = known.callerKeys;
            const isCaller = request.credential.as === 'caller' && key !== undefined;
            const sent: Request = isCaller ? { ...request, credential: { as: 'key', key } } : request;
            return sender.send(sent, { of: id, isAgain: true });
          },
          isOver: () => explaining > MAX_EXPLAINING || budget.ended(endsAt) !== undefined,
        });
        onEvent?.({ kind: 'explained', of: id, ...found });
        explained.set(id, found);
      }
    };
    const replay = async (path: string) => {
      const request = drawAt(path, known, seed);
      for (let times = path.includes('repetition=') ? 3 : 1; times > 0; times--) {
        const { reply } = await sender.send(request, { of: 'lookups', path });
        if (reply.kind === 'trouble') await recordUnanswered(request, reply, path);
      }
    };

    const { becoming, lanes, alone, limiters: last } = schedule(asked);
    if (preflightStop === undefined && options.path !== undefined) await replay(options.path);
    else if (preflightStop === undefined && rules.length > 0) {
      const lookups = createLookups(options, rules);
      const phase = async (strength: Lookup['strength'], until?: number) => {
        report(`strength ${strength}`);
        await sendAll(lookups.ofStrength(strength), until);
      };
      const sendLookups = async () => {
        for (const strength of [0, 1] as const) await phase(strength);
        await Promise.all(lanes.map((lane) => runAll(lane.filter(({ level }) => level === 'required'))));
        await phase(2);
        await phase(5, depthEndsAt());
        await explainAll();
        await Promise.all(lanes.map(runAll));
        for (const lists of lookups.inTurn()) {
          if (budget.ended(depthEndsAt()) !== undefined) break;
          report('combinations');
          await sendAll(lists, depthEndsAt());
        }
        await explainAll();
      };
      // A state hook changes a deposit that lookups ask for, too. Without any other pending one, they ask for these.
      if (options.stateHook !== undefined || known.pending.length === 0) await runAll(becoming);
      await Promise.all([runAll(becoming), sendLookups()]);
    }
    for (const list of [becoming, ...lanes, alone, last]) await runAll(list);
    const isCut = budget.ended() !== undefined || cases < 100;
    for (const rule of rules) {
      if (results.has(rule)) continue;
      const why = stopReason();
      if (why !== undefined && judge.failures(rule.id).length === 0) stop(rule, why);
      else finish(rule, judge.judgement(rule, sender.keyWorks(), isCut, explained.get(rule.id)));
    }
    for (const requirement of requirements) {
      if (requirement.kind !== 'monitor' || results.has(requirement)) continue;
      const seen = evaluation.monitorResult(requirement);
      if (preflightStop === undefined || seen.verdict.kind === 'failed') finish(requirement, seen);
      else stop(requirement, preflightStop);
    }
    const list = evaluation.withBasis(requirements.map((requirement) => results.get(requirement)!));
    const figures: Figures = {
      startedAt,
      durationMs: Math.round(performance.now() - begun),
      requests: budget.spent(),
      rateLimited: { answers: sender.rateLimited(), waitedMs: quota.waitedMs(), ...learnedBy(quota) },
      keyWorks: sender.keyWorks(),
      interrupted: signal.aborted,
      ...coverage.figures(),
      isCut,
      ...(canary === undefined ? {} : { canary: [...canary] }),
      ...(typeof signal.reason === 'string' ? { interruptedBy: signal.reason } : {}),
    };
    const record = makeRecord(recordOptions, list, figures, traffic.figures());
    onEvent?.({ kind: 'end', verdict: record.verdict, figures });
    return record;
  } catch (error) {
    throw redactError(error, redactor(known, options.headers));
  } finally {
    await client.close();
  }
}

/** Learned limits, for the record. */
function learnedBy(quota: Quota): Pick<RunRecord['rateLimited'], 'learned'> {
  const learned = Object.entries(quota.learned()).flatMap(([endpoint, { most, windowMs }]) =>
    Number.isFinite(most)
      ? [{ endpoint: endpoint as Endpoint, requests: most, windowSeconds: windowMs / 1000 }]
      : [],
  );
  return learned.length === 0 ? {} : { learned };
}
