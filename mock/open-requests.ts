import type { ServerResponse } from 'node:http';
// The global one may be a test runner's fake, which nobody moves.
import { setImmediate } from 'node:timers';

/** The requests of a server that are not answered yet. */
export interface OpenRequests {
  /** Takes in a request, by its response. */
  readonly take: (response: ServerResponse) => void;
  /** Counts a request as one that is being answered until its response is closed. */
  readonly hold: (response: ServerResponse) => void;
  /** How many others are being answered while one is, which is not held. */
  readonly others: () => number;
  /** Those of a connection stand in the order in which they were asked. */
  readonly all: () => readonly ServerResponse[];
}

/**
 * Requests that arrive in one turn of the event loop are answered one after another at its end, so
 * that they know of each other. Most are answered at once, and only the others are put into a set: one
 * that every request goes through is remade all the time, and a table of it that the garbage collector
 * has taken for long-lived keeps all that follow alive, with the requests in them.
 */
export function openRequests(
  answer: (request: ServerResponse['req'], response: ServerResponse) => void,
): OpenRequests {
  let arrived: ServerResponse[] = [];
  let answering = 0;
  const held = new Set<ServerResponse>();
  const answerAll = () => {
    for (const response of arrived) {
      answering += 1;
      answer(response.req, response);
    }
    arrived = [];
    answering = 0;
  };
  return {
    take: (response) => {
      if (arrived.push(response) === 1) setImmediate(answerAll);
    },
    hold: (response) => {
      if (response.destroyed || held.has(response)) return;
      held.add(response);
      response.once('close', () => held.delete(response));
    },
    others: () => arrived.length - answering + held.size,
    all: () => [...held, ...arrived],
  };
}
