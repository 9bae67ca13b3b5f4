import { findsUsers, type Endpoint } from '../../schemas/endpoints.ts';
import type { Level, TriedStream } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Condition, Facts } from './facts.ts';
import type { Known } from '../known.ts';
import type { NamedAnswer } from './named-answers.ts';
import type { Request } from '../request.ts';
import type { Asker, Asking, Bursts, Changes, Exchange } from './scenario-context.ts';
import { observed, type Observation, type Verdict, unanswered } from './verdict.ts';

/** What every row of the catalogue has. */
export interface Metadata {
  /** `suite/endpoint/name`. A public contract. */
  readonly id: string;
  readonly level: Level;
  /** Sections of `schemas/interface.md` and of standards, separated by a semicolon and a space. */
  readonly clause: string;
  readonly title: string;
  /** How the interface is read where it is silent or contradicts itself. */
  readonly reading?: string;
  /**
   * Set if a server without the data would pass too. Ids of rows that prove that the server has the data: an answer
   * row by an answer that shows it, any other row by passing. If none does, the result rests on the fixture alone.
   */
  readonly provedBy?: readonly string[];
}

/** Says which answer a lookup gets. A recommended one is advice: its answer is right, and so are the others. */
export interface AnswerRow extends Metadata {
  readonly kind: 'answer';
  /** Lookups that get this answer, by the plain reading of the interface. */
  readonly when: Condition;
  /** Lookups for which this answer is right too, because the interface is silent. */
  readonly also?: Condition;
  readonly answer: NamedAnswer | ((facts: Facts) => NamedAnswer);
  /** The verdict if another right answer came. */
  readonly otherwise?: Verdict;
  /** Whether this row is about a special case of other rows: of all that cover the lookup, or of these ids. */
  readonly refines?: true | readonly string[];
  /** Wrong answers to these lookups belong to another row, once it has some: they have the same cause. */
  readonly leaves?: { readonly when: Condition; readonly to: string };
  /** Set if an answer that shows an entity where none may be belongs to this row, and no other wrong answer. */
  readonly owns?: 'leak';
  /** Set if 401 for the key under test fails this row even if that key never works. */
  readonly provesKey?: true;
  /** Set if no answer is a failure, once the target answers another lookup. */
  readonly silenceFails?: true;
}

/** Says that a special case does not change the answer, such as the letter case of an id. */
export interface Refinement extends Metadata {
  readonly kind: 'refinement';
  /** Lookups that show it. */
  readonly when: Condition;
  /** Lookups whose wrong answer belongs to this row too. */
  readonly also?: Condition;
  /** Ids of refinements that this one refines in turn. */
  readonly refines?: readonly string[];
}

/** Says what else is true of an answer. */
export interface Property extends Metadata {
  readonly kind: 'property';
  readonly when: Condition;
  /** Judges an answer; undefined if another row judges what is wrong. */
  readonly holds: (answer: Answer, facts: Facts, known: Known) => Verdict | undefined;
}

/** Says that a lookup that was answered correctly gets a correct answer each time. */
export interface Repetition extends Metadata {
  readonly kind: 'repetition';
  readonly when: Condition;
}

/** A row about the answers to single lookups. */
export type LookupRow = AnswerRow | Refinement | Property | Repetition;

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

/** What may differ between lookups. */
export type FactorName =
  | 'key'
  | 'header'
  | 'active key'
  | 'situation'
  | 'data'
  | 'id version'
  | 'id spelling'
  | 'malformation'
  | 'query'
  | 'fields'
  | 'repetition'
  | 'load';

/** A level of each factor, by name. */
export type Levels = Readonly<Record<FactorName, string>>;

/** Levels of a lookup. What is left out does not matter. */
export type Choice = readonly [endpoint: Endpoint, levels: Partial<Levels>];

/** A lookup of an entity that an endpoint shows to its partner. */
export const shown = (endpoint: Endpoint): Choice => [
  endpoint,
  { situation: findsUsers(endpoint) ? 'own' : 'own EXECUTED' },
];

interface ScenarioText extends Metadata, Omit<Asker, 'id' | 'phase'> {
  readonly kind: 'scenario';
  readonly endpoint: Endpoint | 'service';
  /** What it does from the start of the run, beside lookups. */
  readonly begin?: (context: Asking, known: Known) => Promise<unknown>;
  /** Lookups of which the fixture must allow one, by their levels that are not plain. */
  readonly needs?: readonly Choice[];
  /** What must be able to change during the run: by a state hook, or for `transition` by itself. */
  readonly needsChange?: 'hook' | 'transition';
  /** Set if it shows that keys are accepted: open if one is lost later. */
  readonly provesKeys?: true;
  /** About how many requests with an accepted key it sends; a few without it. */
  readonly sends?: number;
  /** About how many more it sends without an accepted key. */
  readonly sendsFree?: number;
  /** Judges one answer to a request about which the interface says nothing; undefined if it is not about it. */
  readonly judge?: (known: Known, request: Request, answer: Answer) => Verdict | undefined;
}

type Run<Powers> = (context: Powers, known: Known) => Promise<ScenarioResult>;

/** A scenario sends its own requests. Each may depend on earlier answers. Its phase says what it can do besides. */
export type Scenario = ScenarioText &
  (
    | { readonly phase?: never; readonly run: Run<Asking> }
    | { readonly phase: 'alone'; readonly run: Run<Asking & Changes> }
    | { readonly phase: 'last'; readonly run: Run<Asking & Bursts> }
  );

/** How many of so many lookups failed. */
export interface Share {
  readonly failed: number;
  readonly of: number;
}

/** The result of a scenario, with the request that shows it. */
export interface ScenarioResult {
  readonly finding: Verdict | Observation;
  readonly request?: Request;
  readonly reply?: Reply;
  /** The conditions under which it fails. */
  readonly where?: readonly string[];
  /** Distinct inputs that were judged. */
  readonly cases?: number;
  /** How many of `of` equal lookups failed, if not all did. */
  readonly intermittent?: Share;
  /** How a limit was tried. */
  readonly trial?: TriedStream[];
}

export type Requirement = LookupRow | Monitor | Scenario;

type TextOf<Of> = Omit<Of, 'kind' | 'level'>;

/** The answer that a lookup must get. */
export const answers = (row: TextOf<AnswerRow>): AnswerRow => ({ ...row, kind: 'answer', level: 'required' });

/** The answer that a lookup should get. */
export const advises = (row: TextOf<AnswerRow>): AnswerRow => ({
  ...row,
  kind: 'answer',
  level: 'recommended',
});

/** A special case that must not change the answer. */
export const refines = (row: TextOf<Refinement>): Refinement => ({
  ...row,
  kind: 'refinement',
  level: 'required',
});

/** What else must be true of an answer. */
export const requires = (row: TextOf<Property>): Property => ({
  ...row,
  kind: 'property',
  level: 'required',
});

/** What else should be true of an answer. */
export const recommends = (row: TextOf<Property>): Property => ({
  ...row,
  kind: 'property',
  level: 'recommended',
});

/** Lookups that must get the same answer each time. */
export const repeats = (row: TextOf<Repetition>): Repetition => ({
  ...row,
  kind: 'repetition',
  level: 'required',
});

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

/** The same without its kind, for each phase. */
type Spec<Of> = Of extends unknown ? Omit<Of, 'kind'> : never;

export const scenario = (spec: Spec<Scenario>): Scenario => ({ ...spec, kind: 'scenario' });

/** Whether a request was not sent. A timeout or a reset is behaviour of the target. */
const isUnsent = (reply: Reply): reply is Trouble =>
  reply.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network';

/** The status of a reply, or why there is none. */
export const statusOf = (reply: Reply) => (reply.kind === 'answer' ? reply.status : reply.words);

type Shown = Readonly<Record<string, string | number>>;

const listOf = (seen: Shown) =>
  Object.entries(seen)
    .map(([name, text]) => `${name}: ${text}`)
    .join(', ');

/** Records how each of several named requests is answered where the interface is silent. It never fails. */
export const observes = ({
  requests: requestsOf,
  show = (reply) => String(statusOf(reply)),
  words = listOf,
  ...row
}: Omit<ScenarioText, 'kind' | 'level'> & {
  readonly requests: (known: Known) => readonly (readonly [name: string, request: Request])[];
  readonly show?: (reply: Reply) => string | number;
  readonly words?: (seen: Shown) => string;
}): Scenario =>
  scenario({
    ...row,
    level: 'observed',
    run: async ({ send }, known) => {
      const requests = requestsOf(known);
      const replies = await send(...requests.map(([, request]) => request));
      const unsent = replies.find(isUnsent);
      if (unsent !== undefined) return { finding: unanswered(unsent) };
      const seen = Object.fromEntries(requests.map(([name], at) => [name, show(replies[at]!)]));
      return { finding: observed(words(seen), seen) };
    },
  });

export const isLookupRow = (row: Requirement): row is LookupRow =>
  row.kind !== 'monitor' && row.kind !== 'scenario';

/** What is at stake if a requirement fails, by its id. The first that fits counts. 1 is the worst. */
const ranks: readonly (readonly [id: RegExp, rank: number])[] = [
  // 1: data reach somebody who must not see them.
  [/^foreign-ib\/[^/]+\/(?:other-ib|shape|follows-key)$/, 1],
  [/^valid\/service\/no-user-data$/, 1],
  [/^robustness\/service\/concurrency$/, 1],
  [/^pending\/[^/]+\/pending$/, 1],
  // 2: a key works that must not, or needs not be sent.
  [/^auth\/[^/]+\/active-key$/, 3],
  [/^auth\//, 2],
  // 4: the words of an answer.
  [/\/message$/, 4],
  // 5: how a right answer is written.
  [/\/date-joined-format$/, 5],
];

/** Advice comes after everything that is required. */
const ADVICE = 6;
const ANSWER = 3;

/** How bad it is if a requirement fails: 1 is the worst, 3 a wrong answer, 6 advice. */
export const rankOf = ({ id, level }: Pick<Requirement, 'id' | 'level'>): number =>
  level === 'required' ? (ranks.find(([pattern]) => pattern.test(id))?.[1] ?? ANSWER) : ADVICE;
