import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Exchange } from '../requirement.ts';
import type { Reason } from '../verdict.ts';
import type { Judgement } from './judge.ts';
import type { Figures } from './record.ts';

/** A call that a scenario makes through its context. */
export type CallName =
  'send' | 'sendAtOnce' | 'sendUntilAllowed' | 'burst' | 'withState' | 'now' | 'leftMs' | 'keyWorks';

/** What a scenario got from a call. */
export interface ContextCall {
  readonly kind: 'call';
  /** Id of the requirement, or the name of requests that several share. */
  readonly of: string;
  /** Its number among the calls of the same requirement, from 0. */
  readonly nth: number;
  readonly call: CallName;
  readonly replies?: readonly Reply[];
  /** 429s that were waited out meanwhile. */
  readonly refused?: readonly Answer[];
  readonly value?: number | boolean;
}

/** A request that went out, what came of it, and what it was for. */
export interface NotedExchange extends Exchange {
  /** Id of the requirement that asked. */
  readonly of?: string;
  /** Leads to the lookup in the covering array. */
  readonly path?: string;
  /** Whether it only confirms or explains a failure. */
  readonly isAgain?: true;
  /** Whether a front end answered in place of the target, and it was sent again. */
  readonly isLost?: true;
}

/** What happens in a run, as it happens: enough to judge the run again without the target. */
export type RunEvent =
  /** The run begins, at a time in ms of its clock. */
  | { readonly kind: 'start'; readonly at: number }
  /** A request that went out, and what came of it. */
  | ({ readonly kind: 'exchange' } & NotedExchange)
  /** A lookup of the covering array that got no answer, however often it was sent. */
  | { readonly kind: 'missed'; readonly path: string; readonly trouble: Trouble }
  /** What was found out about a failure. */
  | ({ readonly kind: 'explained'; readonly of: string } & Partial<Judgement>)
  | ContextCall
  /** Nothing was sent for a requirement, for a reason that lies in the run. */
  | { readonly kind: 'stopped'; readonly of: string; readonly reason: Reason; readonly words: string }
  | { readonly kind: 'outcome'; readonly result: RequirementResult }
  | { readonly kind: 'end'; readonly verdict: RunRecord['verdict']; readonly figures: Figures };

export type OnEvent = (event: RunEvent) => void;
