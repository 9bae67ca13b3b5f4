import { answerRequest, type Answered } from './answer-request.ts';
import type { Answer, HttpRequest } from './exchange.ts';
import { stateAnswer } from './provider-state.ts';
import type { Session } from './session.ts';

interface DoorOptions {
  readonly hasAdmin: boolean;
  /** Told of each request of a partner. */
  readonly onAnswered?: ((request: HttpRequest, answered: Answered) => void) | undefined;
}

/** Where each request goes: to the service, or to what stands beside it and leaves no trace in it. */
export function doorOf(session: Session, { hasAdmin, onAnswered }: DoorOptions) {
  return (request: HttpRequest): Answer => {
    const state = hasAdmin ? stateAnswer(session.main.world, request) : undefined;
    if (state !== undefined) return state;
    const answered = answerRequest(session, request);
    onAnswered?.(request, answered);
    return answered.response;
  };
}
