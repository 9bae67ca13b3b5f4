import type { Endpoint } from '../schemas/endpoints.ts';
import type { Level } from '../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from './answer.ts';
import type { Known } from './known.ts';
import type { FixtureNeeds } from './needs.ts';
import type { Expected } from './model/model.ts';
import type { Request } from './request.ts';
import { observed, inconclusive, type Observation, type Verdict } from './verdict.ts';

/** Properties of every requirement. */
export interface Metadata {
  /** `suite/endpoint/name`. A public contract. */
  readonly id: string;
  readonly level: Level;
  /** The section of the interface or the standard. */
  readonly clause: string;
  readonly title: string;
  /** How the interface is read where it is silent or contradicts itself. */
  readonly reading?: string;
  /**
   * Set if a server without the data would pass too. Ids of requirements that prove that the server has the data if
   * they pass. If none passes, the result rests on the fixture alone.
   */
  readonly provedBy?: readonly string[];
}

/** A rule must hold for the answer to every lookup that it covers. */
export interface Rule extends Metadata, FixtureNeeds {
  readonly kind: 'rule';
  /**
   * Judges an answer; undefined if the rule does not cover the lookup or another rule judges the error. Without
   * `holds`, the model decides whether the interface allows the answer.
   */
  readonly holds?: (answer: Answer, expected: Expected, known: Known) => Verdict | undefined;
}

/** A monitor sees every exchange of a run. */
export interface Monitor extends Metadata {
  readonly kind: 'monitor';
  /** Called once per run. The returned function judges each answer; undefined if it does not apply. */
  readonly watch: (known: Known) => (request: Request, answer: Answer) => MonitorFinding | undefined;
  /** The verdict if it applied to no answer. */
  readonly ifUnseen: Verdict;
}

/** A verdict, with the exchange that proves it if that is an earlier one. */
interface MonitorFinding {
  readonly verdict: Verdict;
  readonly evidence?: Exchange;
}

/**
 * Changes the state of the target, like provider states in Pact: `deposit executed` with `reference_id`,
 * `amountInUsd` and `executedAt`; `key revoked` with `key`.
 */
export interface StateHook {
  /** Rejects if the target did not accept the change. */
  readonly change: (
    action: 'setup' | 'teardown',
    state: string,
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** The speed of a stream of requests. */
export interface Pace {
  readonly most: number;
  /** Time in which they should be answered, in ms. Decides how many are in flight. */
  readonly withinMs?: number;
  readonly oneAtATime?: boolean;
}

/** A request and its reply. */
export interface Exchange {
  readonly request: Request;
  readonly reply: Reply;
}

/** What a scenario can do. Times are in ms of the engine's clock. */
export interface Context {
  /** Sends requests one after another. Waits and retries after 429. */
  readonly send: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Sends requests at once, as far as --concurrency and --rate allow. Waits and retries after 429. */
  readonly sendAtOnce: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Like `send`, and reports each 429. */
  readonly sendUntilAllowed: (request: Request, onRefused: (answer: Answer) => void) => Promise<Reply>;
  /** Sends requests at once. Never retries: 429 is an answer like any other. */
  readonly burst: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Sends new requests until the first 429. Never retries. Returns exchanges in the order of sending. */
  readonly stream: (make: () => Request, pace: Pace) => Promise<readonly Exchange[]>;
  /** Waits until the run got no reply for `ms`. */
  readonly waitForQuiet: (ms: number) => Promise<void>;
  /** Waits until the limiter of an endpoint has no counted requests of the key under test. */
  readonly waitForReset: (endpoint: Endpoint) => Promise<void>;
  /** Calls `make` once per run, for requirements that share requests. */
  readonly once: <Result>(name: string, make: (context: Context) => Promise<Result>) => Promise<Result>;
  /** Sets up a state, calls `during`, and tears the state down; undefined without a state hook. */
  readonly withState?: <Result>(
    state: string,
    params: Readonly<Record<string, unknown>>,
    during: () => Promise<Result>,
  ) => Promise<Result | Trouble>;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** Rest of the run's time, in ms. */
  readonly leftMs: () => number;
  readonly cases: number;
  /** Whether the key under test was ever accepted; undefined before it was used. */
  readonly keyWorks: () => boolean | undefined;
}

/** A scenario sends its own requests. Each may depend on earlier answers. */
export interface Scenario extends Metadata, FixtureNeeds {
  readonly kind: 'scenario';
  readonly needsStateHook?: true;
  readonly run: (context: Context, known: Known) => Promise<ScenarioResult>;
}

/** The result of a scenario, with the request that shows it. */
export interface ScenarioResult {
  readonly finding: Verdict | Observation;
  readonly request?: Request;
  readonly reply?: Reply;
  /** Distinct inputs that were judged. */
  readonly cases?: number;
}

export type Requirement = Rule | Monitor | Scenario;

type Row<Of> = Omit<Of, 'kind' | 'level'>;

export const required = (rule: Row<Rule>): Rule => ({ ...rule, kind: 'rule', level: 'required' });

export const recommended = (rule: Row<Rule>): Rule => ({ ...rule, kind: 'rule', level: 'recommended' });

/** A monitor that judges each answer on its own. */
export const monitor = ({
  judge,
  ...spec
}: Omit<Monitor, 'kind' | 'watch'> & {
  readonly judge: (request: Request, answer: Answer) => Verdict | undefined;
}): Monitor => ({
  ...spec,
  kind: 'monitor',
  watch: () => (request, answer) => {
    const verdict = judge(request, answer);
    return verdict && { verdict };
  },
});

export const scenario = (spec: Omit<Scenario, 'kind'>): Scenario => ({ ...spec, kind: 'scenario' });

/** A scenario that records what a target does where the interface is silent. It never fails. */
export const observing = ({
  run,
  ...spec
}: Omit<Row<Scenario>, 'run'> & {
  readonly run: (context: Context, known: Known) => Promise<Observation | Verdict>;
}): Scenario => ({
  ...spec,
  kind: 'scenario',
  level: 'observed',
  run: async (context, known) => {
    let unsent: Trouble | undefined;
    const send: Context['send'] = async (...requests) => {
      const replies = await context.send(...requests);
      unsent ??= replies.find(isUnsent);
      return replies;
    };
    const finding = await run({ ...context, send }, known);
    const nothingSent = finding.kind === 'observed' && unsent !== undefined;
    return { finding: nothingSent ? inconclusive(unsent!.code, unsent!.words) : finding };
  },
});

/** Whether a request was not sent. A timeout or a reset is behaviour of the target. */
const isUnsent = (reply: Reply): reply is Trouble =>
  reply.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network';

/** The status of a reply, or why there is none. */
export const statusOf = (reply: Reply) => (reply.kind === 'answer' ? reply.status : reply.words);

/** Records how each of several named requests is answered. */
export const observingEach = ({
  requests: requestsOf,
  show = (reply) => String(statusOf(reply)),
  ...row
}: Omit<Row<Scenario>, 'run'> & {
  readonly requests: (known: Known) => readonly (readonly [string, Request])[];
  readonly show?: (reply: Reply) => string | number;
}): Scenario =>
  observing({
    ...row,
    run: async ({ send }, known) => {
      const requests = requestsOf(known);
      const replies = await send(...requests.map(([, request]) => request));
      const seen = requests.map(([name], at) => [name, show(replies[at]!)] as const);
      return observed(seen.map(([name, text]) => `${name}: ${text}`).join(', '), Object.fromEntries(seen));
    },
  });

/** Repeats a request for some seconds until `done`: a cache may still hold the old answer. */
export async function sendUntil(
  { send, wait }: Context,
  request: Request,
  done: (answer: Answer) => boolean,
): Promise<Reply> {
  let [reply] = (await send(request)) as [Reply];
  for (const ms of [250, 500, 1000, 2000]) {
    if (reply.kind === 'trouble' || done(reply)) break;
    await wait(ms);
    [reply] = (await send(request)) as [Reply];
  }
  return reply;
}

/** `valid/user-status/member` belongs to `valid`. */
export function suiteOf({ id }: Pick<Metadata, 'id'>): string {
  return id.slice(0, id.indexOf('/'));
}
