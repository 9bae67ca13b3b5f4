import type { Access } from './admin/guard.ts';
import { answerRequest, type Answered } from './answer-request.ts';
import { preflight, readable } from './cors.ts';
import type { Answer, HttpRequest } from './exchange.ts';
import { httpDate } from './http-date.ts';
import { MOST_BODY } from './transport.ts';
import { timeIn, type Session } from './session.ts';

export interface DoorOptions {
  /** Answers admin calls; without it there is no admin API here. */
  readonly admin?: ((request: HttpRequest) => Promise<Answer>) | undefined;
  /** Pages of other origins may call the service. */
  readonly cors?: boolean | undefined;
  /** Told of each request of a partner. */
  readonly onAnswered?: ((request: HttpRequest, answered: Answered) => void) | undefined;
}

/** Where each request goes: to the service, or to the admin API, which leaves no trace in it. */
export function doorOf(session: Session, { admin, cors = false, onAnswered }: DoorOptions) {
  return (request: HttpRequest): Answer | Promise<Answer> => {
    if (admin !== undefined && isAdmin(request.target)) return admin(request);
    const allowed = cors ? preflight(request) : undefined;
    if (allowed !== undefined) {
      const Date = httpDate(timeIn(session, session.main));
      return { ...allowed, headers: { Date, ...allowed.headers } };
    }
    const answered = answerRequest(session, request);
    onAnswered?.(request, answered);
    return cors ? readable(answered.response) : answered.response;
  };
}

/** The admin API of a session; loaded with its first call, for most mocks never get one. */
export function adminOf(session: Session, access: Access | undefined) {
  return async (request: HttpRequest): Promise<Answer> => {
    const { answerAdmin } = await import('./admin/router.ts');
    return answerAdmin(session, access, request);
  };
}

/** Most bytes of the body of an admin call: a fixture may be one. Larger ones come from a file. */
const MOST_ADMIN_BODY = 2 ** 24;

/** How much of a body is read. */
export const mostBody = (target: string) => (isAdmin(target) ? MOST_ADMIN_BODY : MOST_BODY);

const isAdmin = (target: string) => target.startsWith('/__admin') && /^\/__admin(?:[/?]|$)/.test(target);
