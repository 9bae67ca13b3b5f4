import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Reason } from '../verdict.ts';
import type { Delivery } from './courier.ts';
import type { Figures } from './record.ts';

/**
 * Which try of an input it was: its first, its second to confirm a failure, or one while it was made
 * smaller; a control is no input, but a plain lookup that shows whether the target answers anything.
 */
export type Stage = 'draw' | 'confirm' | 'shrink' | 'control';

/** A call of a scenario, by the name of the door. */
export type DoorName =
  'send' | 'sendAtOnce' | 'patiently' | 'burst' | 'first' | 'withState' | 'now' | 'leftMs' | 'keyWorks';

/** What a scenario got from a door. */
export interface DoorCall {
  readonly kind: 'door';
  /** Id of the requirement, or the name of a story that several share. */
  readonly of: string;
  /** How manieth call of it, from 0. */
  readonly nth: number;
  readonly door: DoorName;
  readonly replies?: readonly Reply[];
  /** 429s that were waited out meanwhile. */
  readonly refused?: readonly Answer[];
  readonly value?: number | boolean;
}

/** An input that was tried: the answers are judged again by it. */
export interface TriedInput {
  readonly kind: 'trial';
  /** Id of the requirement. */
  readonly of: string;
  readonly stage: Stage;
  /** Which input of the draw, or how manieth try while it was made smaller, from 0. */
  readonly nth: number;
  readonly input: unknown;
  readonly deliveries: readonly Delivery[];
  /** Whether the key under test was known to work when the answers were judged. */
  readonly keyWorks?: boolean;
}

/** What happens in a run, as it happens: enough to judge the run again without the target. */
export type RunEvent =
  /** The run begins, at a time in ms of its clock. */
  | { readonly kind: 'start'; readonly at: number }
  /** A request that went out, and what came of it. `of` is the requirement that asked first. */
  | { readonly kind: 'exchange'; readonly of?: string; readonly request: Request; readonly reply: Reply }
  /** How many distinct inputs a requirement is going to be judged by. */
  | { readonly kind: 'planned'; readonly of: string; readonly inputs: number }
  | TriedInput
  /** Where the smallest input that fails stands: a path of fast-check. */
  | { readonly kind: 'shrunk'; readonly of: string; readonly path: string }
  | DoorCall
  /** Nothing was sent for a requirement, for a reason that lies in the run. */
  | { readonly kind: 'stopped'; readonly of: string; readonly reason: Reason; readonly words: string }
  | { readonly kind: 'outcome'; readonly result: RequirementResult }
  | { readonly kind: 'end'; readonly verdict: RunRecord['verdict']; readonly figures: Figures };

export type OnEvent = (event: RunEvent) => void;

/** Evidence that a transcript does not hold. */
export const notRecorded: Trouble = {
  kind: 'trouble',
  code: 'not-recorded',
  words: 'the transcript holds no answer to this',
};
