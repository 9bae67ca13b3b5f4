import type { Endpoint } from '../schemas/endpoints.ts';
import type { Level } from '../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from './answer.ts';
import type { Known } from './known.ts';
import type { FixtureNeeds } from './needs.ts';
import type { Expected } from './model/model.ts';
import type { Request } from './request.ts';
import { observed, unjudged, type Observation, type Verdict } from './verdict.ts';

/** What a requirement is, whatever way it is checked. */
export interface Subject {
  /** `suite/endpoint/name`; a public contract. */
  readonly id: string;
  readonly level: Level;
  /** The section of the interface, or the standard, that it stands for. */
  readonly clause: string;
  readonly title: string;
  /** Which reading was taken where the interface is silent or disagrees with itself. */
  readonly reading?: string;
  /**
   * Set where a server without the data answers the same: requirements of which one that passes shows that it has
   * them. Otherwise the result rests on the fixture's word.
   */
  readonly provedBy?: readonly string[];
}

/** Must hold of the answer to every lookup that it covers. */
export interface Rule extends Subject, FixtureNeeds {
  readonly kind: 'rule';
  /**
   * What an answer shows of it; undefined if it does not cover the lookup, or if another rule judges what is wrong.
   * Without it the model judges: whether the answer is one of those that the interface allows.
   */
  readonly holds?: (answer: Answer, expected: Expected, known: Known) => Verdict | undefined;
}

/** Must hold of every exchange of the run that it speaks of. */
export interface Monitor extends Subject {
  readonly kind: 'monitor';
  /** Begins a run. What it gives sees each answer; undefined: nothing of its concern. */
  readonly watch: (known: Known) => (request: Request, answer: Answer) => Sighting | undefined;
  /** What is said when the run held nothing of its concern. */
  readonly unseen: Verdict;
}

/** What an answer shows, and the exchange that proves it where that is an earlier one. */
interface Sighting {
  readonly verdict: Verdict;
  readonly evidence?: Exchange;
}

/**
 * Changes the state of the target on request, as Pact's provider states do: `deposit executed` with
 * `reference_id`, `amountInUsd` and `executedAt`, `key revoked` with `key`.
 */
export interface StateHook {
  /** Rejects where the target did not take it. */
  readonly change: (
    action: 'setup' | 'teardown',
    state: string,
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** How requests of a stream follow each other. */
export interface Pace {
  /** Requests at most. */
  readonly most: number;
  /** Time in which so many should be answered, in ms: decides how many are in flight. */
  readonly withinMs?: number;
  readonly oneAtATime?: boolean;
}

/** A request and what came of it. */
export interface Exchange {
  readonly request: Request;
  readonly reply: Reply;
}

/** What a scenario may do: send requests, wait, read the clock. Times are ms of the engine's clock. */
export interface Context {
  /** One after another; 429 is waited out. */
  readonly send: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** All at once, as far as --concurrency and --rate allow; 429 is waited out. */
  readonly sendAtOnce: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** As `send`, and shows the 429s that were waited out. */
  readonly sendUntilAllowed: (request: Request, onRefused: (answer: Answer) => void) => Promise<Reply>;
  /** All at once; 429 is an answer like any other, and nothing is sent again. */
  readonly burst: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Requests that `make` gives, until the first 429; nothing is sent again. In the order of sending. */
  readonly stream: (make: () => Request, pace: Pace) => Promise<readonly Exchange[]>;
  /** Waits until no request of the run was answered for so many ms. */
  readonly rest: (ms: number) => Promise<void>;
  /** Waits until an endpoint's limiter has forgotten what the key under test did, and lets it in. */
  readonly settle: (endpoint: Endpoint) => Promise<void>;
  /** What `make` gives, made once a run: for requirements that judge the same requests. */
  readonly once: <Result>(name: string, make: (context: Context) => Promise<Result>) => Promise<Result>;
  /** Holds a state while `during` looks at it, and takes it back; undefined where no hook was given. */
  readonly withState?: <Result>(
    state: string,
    params: Readonly<Record<string, unknown>>,
    during: () => Promise<Result>,
  ) => Promise<Result | Trouble>;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** What is left of the time of the run, in ms. */
  readonly leftMs: () => number;
  readonly cases: number;
  /** Whether the key under test was ever answered with anything but 401; undefined before it was used. */
  readonly keyWorks: () => boolean | undefined;
}

/** Sends requests of its own: the next one may depend on the last answer. */
export interface Scenario extends Subject, FixtureNeeds {
  readonly kind: 'scenario';
  /** Nobody can tell without a state hook. */
  readonly needsStateHook?: true;
  readonly run: (context: Context, known: Known) => Promise<ScenarioResult>;
}

/** What a scenario found, and the request that shows it. */
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

/** A monitor to which each answer shows all that counts. */
export const monitor = ({
  sees,
  ...spec
}: Omit<Monitor, 'kind' | 'watch'> & {
  readonly sees: (request: Request, answer: Answer) => Verdict | undefined;
}): Monitor => ({
  ...spec,
  kind: 'monitor',
  watch: () => (request, answer) => {
    const verdict = sees(request, answer);
    return verdict && { verdict };
  },
});

export const scenario = (spec: Omit<Scenario, 'kind'>): Scenario => ({ ...spec, kind: 'scenario' });

/** Records what a target does where the interface is silent, and never judges it. */
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
    const isNothing = finding.kind === 'observed' && unsent !== undefined;
    return { finding: isNothing ? unjudged(unsent!.code, unsent!.words) : finding };
  },
});

/** A timeout and a reset are what the target does; that a run had no time or no requests left is not. */
const isUnsent = (reply: Reply): reply is Trouble =>
  reply.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network';

/** What a reply comes to where only that is of interest. */
export const statusOf = (reply: Reply) => (reply.kind === 'answer' ? reply.status : reply.words);

/** Records how some requests are answered, each by its name. */
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

/** Sends a request again until its answer is `done`, for some seconds: a cache may hold the old one for a moment. */
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
export function suiteOf({ id }: Pick<Subject, 'id'>): string {
  return id.slice(0, id.indexOf('/'));
}
