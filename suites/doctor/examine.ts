import type { Check, Checkup } from '../../schemas/generated/types.ts';
import type { Answer } from '../answer.ts';
import type { Client, ClientOptions } from '../engine/client.ts';
import { redactor } from '../engine/evidence.ts';
import { plan, type PlanOptions } from '../engine/plan.ts';
import type { StateHook } from '../requirement.ts';
import { createAsker } from './asker.ts';
import { check } from './finding.ts';
import { gapsOf } from './gaps.ts';
import { judgeHook } from './hook.ts';
import { look, type LookOptions } from './look.ts';

/** Requests to the target, at most. */
export const MOST_REQUESTS = 15;

/** Time for all of it, in ms. */
export const MOST_MS = 5000;

/** Characters of what was found, at most: an answer may be of any length. */
const MOST_WORDS = 300;

/** All that a checkup depends on: everything with an effect comes in here. */
export interface ExamineOptions extends LookOptions {
  /** The run to come. */
  readonly run: Omit<PlanOptions, 'known'> & { readonly concurrency: number };
  /** Bound on each request, in ms. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stateHook?: StateHook;
  readonly connect: (options: ClientOptions) => Client;
  readonly version: string;
  readonly notes: readonly string[];
}

/**
 * Looks at a target and its fixture with a few requests that change nothing, and says what a run would
 * meet. Never rejects for what a target does.
 */
export async function examine(options: ExamineOptions): Promise<Checkup> {
  const { target, known, clock, stateHook, version, notes, run, trust } = options;
  const begun = clock.stopwatch();
  const client = options.connect({ ...options, ...trust, connections: 4, now: clock.now });
  const asker = createAsker({ ...options, client, mostRequests: MOST_REQUESTS, mostMs: MOST_MS });
  const patience = () => Math.min(options.timeoutMs, asker.leftMs());
  try {
    const [{ checks, answers }, hook] = await Promise.all([
      look(options, asker, patience),
      stateHook === undefined ? undefined : judgeHook(stateHook, known, options, patience()),
    ]);
    const all = [...checks, ...(hook === undefined ? [] : [check('state hook', 'teardown', hook)])];
    const redact = redactor(known);
    return {
      format: 'ib-conformance/doctor/1',
      version,
      verdict: verdictOf(all),
      target: redact(target.href),
      ...(known.partner === undefined ? {} : { partner: known.partner }),
      notes: [...notes],
      requests: asker.asked(),
      durationMs: Math.round(clock.stopwatch() - begun),
      checks: all.map((one) => ({ ...one, words: shortened(redact(one.words)) })),
      gaps: [...gapsOf(run.requirements, known, stateHook !== undefined)],
      plan: expectedRun(options, answers),
    };
  } finally {
    await client.close();
  }
}

function verdictOf(checks: readonly Check[]): Checkup['verdict'] {
  const ills = checks.filter(({ outcome }) => outcome === 'bad');
  if (ills.some(({ area }) => area === 'reach')) return 'unreachable';
  return ills.length > 0 ? 'ill' : 'well';
}

const shortened = (words: string) => (words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS)}…` : words);

function expectedRun({ known, run }: ExamineOptions, answers: readonly Answer[]): Checkup['plan'] {
  const { requests, durationMs, cutTo } = plan({ ...run, known });
  const took = answers.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)[Math.floor(answers.length / 2)];
  return {
    requests,
    waitMs: durationMs,
    ...(took === undefined ? {} : { answersMs: Math.round((requests * took) / run.concurrency) }),
    ...(cutTo === undefined ? {} : { cutTo }),
  };
}
