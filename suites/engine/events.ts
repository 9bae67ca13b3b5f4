import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Reason } from '../verdict.ts';
import type { Judgement } from './judge.ts';
import type { Figures } from './record.ts';

/** A call that a scenario makes through its context. */
export type CallName =
  'send' | 'sendAtOnce' | 'patiently' | 'burst' | 'withState' | 'now' | 'leftMs' | 'keyWorks';

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

/** What happens in a run, as it happens: enough to judge the run again without the target. */
export type RunEvent =
  /** The run begins, at a time in ms of its clock. */
  | { readonly kind: 'start'; readonly at: number }
  /** A request that went out, and what came of it. `of` is the requirement that asked first. */
  | {
      readonly kind: 'exchange';
      readonly of?: string;
      readonly request: Request;
      readonly reply: Reply;
      /** Leads to the lookup in the covering array. */
      readonly path?: string;
      /** Whether it only confirms or explains a failure. */
      readonly isAgain?: true;
      /** Whether a front end answered in place of the target, and it was sent again. */
      readonly isLost?: true;
    }
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
