import type { RequirementResult, RunRecord, TranscriptLine } from '../../schemas/generated/types.ts';
import type { Request } from '../request.ts';
import type { ChangeStep } from '../model/changes.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Exchange } from '../scenario-context.ts';
import type { Reason } from '../verdict.ts';
import type { Figures } from './record.ts';
import type { Judgement } from './tally.ts';

export type LineOf<Kind extends TranscriptLine['line']> = Extract<TranscriptLine, { line: Kind }>;

/** A call of a scenario to its context. */
export type CallName = LineOf<'call'>['call'];

/** The result of such a call. `refused`: 429s before the final reply. */
export interface ContextCall extends Readonly<Omit<LineOf<'call'>, 'line' | 'replies' | 'refused'>> {
  readonly kind: 'call';
  readonly replies?: readonly Reply[];
  readonly refused?: readonly Answer[];
}

/** A request that was sent, its reply, and its purpose. */
export interface RunExchange extends Exchange {
  /** Id of the requirement that asked. */
  readonly of?: string | undefined;
  /** Path of the lookup in the covering array. */
  readonly path?: string | undefined;
  /** Set if the request only confirms or explains a failure. */
  readonly isAgain?: true | undefined;
  /** Set if a front end answered in place of the target. */
  readonly isLost?: true | undefined;
  /** Set if it was sent together with others. */
  readonly isAtOnce?: true | undefined;
}

/** Events of a run: enough to judge the run again without the target. */
export type RunEvent =
  /** Start of the run, in ms of its clock. */
  | { readonly kind: 'start'; readonly at: number }
  | ({ readonly kind: 'exchange' } & RunExchange)
  /** A lookup of the covering array that got no answer, also when retried. */
  | { readonly kind: 'missed'; readonly path: string; readonly request: Request; readonly trouble: Trouble }
  | ({ readonly kind: 'explained'; readonly of: string } & Partial<Judgement>)
  | ContextCall
  /** A wrong answer that belongs to the scenario about concurrency: the lookup is right alone. */
  | { readonly kind: 'company'; readonly of: string; readonly reply: Reply }
  /** A step of a change that the state hook makes, by the number of the change. */
  | ({ readonly kind: 'change'; readonly nth: number } & ChangeStep)
  /** A requirement that was not checked because the run stopped. */
  | { readonly kind: 'stopped'; readonly of: string; readonly reason: Reason; readonly words: string }
  | { readonly kind: 'outcome'; readonly result: RequirementResult }
  | { readonly kind: 'end'; readonly verdict: RunRecord['verdict']; readonly figures: Figures };

export type OnEvent = (event: RunEvent) => void;
