import { answerWith, crash, editResponse, type Change } from '../change.ts';
import type { HttpResponse } from '../exchange.ts';
import { noServerErrors, type Faults } from './rows.ts';

/** With others at the same time, an answer is what the one before it in the rush got. */
const mixesUp: Change = (behaviour) => {
  let last: HttpResponse | undefined;
  return editResponse({ status: 200 }, (response, { request }) => {
    const previous = last;
    last = response;
    return (request.alongside ?? 0) > 0 && previous !== undefined ? previous : response;
  })(behaviour);
};

const everyFiftieth: Change = (behaviour) => {
  let turn = 0;
  return answerWith({ where: () => (turn += 1) % 50 === 0 }, 503, { error: 'Service unavailable' })(
    behaviour,
  );
};

/** Crashes, and answers that get mixed up (robustness). */
export const stabilityFaults: Faults = {
  'answers-mixed-up': {
    what: "Callers at the same time get each other's answers.",
    fails: ['robustness/service/concurrency'],
    change: mixesUp,
  },
  'every-fiftieth-with-503': {
    what: 'Every fiftieth answer is 503.',
    fails: [noServerErrors],
    change: everyFiftieth,
  },
  'other-methods-with-501': {
    what: 'Other methods than GET and HEAD are answered with 501.',
    fails: [noServerErrors],
    change: answerWith({ kinds: ['noSuchMethod'] }, 501),
  },
  'head-crashes': {
    what: 'HEAD crashes.',
    fails: [noServerErrors],
    change: crash({ where: ({ request }) => request.method === 'HEAD' }),
  },
  'unknown-parameter-crashes': {
    what: 'A parameter that it does not know crashes.',
    fails: [noServerErrors],
    change: crash({ where: ({ call }) => (call?.parameters.length ?? 0) > 1 }),
  },
  'trailing-slash-crashes': {
    what: 'A trailing slash in the path crashes.',
    fails: [noServerErrors],
    change: crash({ where: ({ request }) => /\/(\?|$)/.test(request.target) }),
  },
};
