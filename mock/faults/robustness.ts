import { answerWith, crash, editResponse, type Change } from './change.ts';
import type { HttpResponse } from '../exchange.ts';
import { both, failing, noServerErrors, rowsOf, type Faults } from './table.ts';

/** With this many other requests in progress the server mixes up answers. */
const RUSH = 5;

/**
 * In a rush, a lookup of a target that is being looked up waits for that answer. There is room for two
 * that wait; a third one gets the answer of the second.
 */
const mixesUp: Change = (behaviour) => {
  let recent: readonly { readonly target: string; readonly waits: boolean }[] = [];
  let last: HttpResponse | undefined;
  return editResponse({ kinds: ['member', 'executed'] }, (response, { request }) => {
    const { target, alongside = 0 } = request;
    recent = alongside < RUSH ? [] : recent.slice(-alongside);
    const waits = recent.some((one) => one.target === target);
    const isThird = waits && recent.filter((one) => one.waits).length >= 2;
    recent = [...recent, { target, waits }];
    const answer = isThird ? (last ?? response) : response;
    if (waits) last = response;
    return answer;
  })(behaviour);
};

/** The first answer of a server that is still warming up. */
const coldStart: Change = (behaviour) => {
  let isCold = true;
  const where = () => {
    const wasCold = isCold;
    isCold = false;
    return wasCold;
  };
  return answerWith({ where }, 503, { error: 'Service unavailable' })(behaviour);
};

/** Crashes, and answers that get mixed up (robustness). */
export const robustnessFaults: Faults = {
  ...failing(['robustness/service/concurrency'], {
    'answers-mixed-up': ["In a rush, callers who wait for equal lookups get each other's answers.", mixesUp],
  }),
  ...failing([noServerErrors], {
    'first-answer-with-503': ['The first answer after a start is 503.', coldStart],
    'other-methods-with-500': [
      'Other methods than GET and HEAD are answered with 500.',
      answerWith({ kinds: ['noSuchMethod'] }, 500),
    ],
    'head-crashes': ['HEAD crashes.', crash({ where: ({ request }) => request.method === 'HEAD' })],
    'trailing-slash-crashes': [
      'A trailing slash in the path crashes.',
      crash({ where: ({ request }) => /\/(\?|$)/.test(request.target) }),
    ],
  }),
  ...failing([...rowsOf('invalid-uuid', both, 'empty', 'hostile'), noServerErrors], {
    'unknown-parameter-crashes': [
      'A parameter that it does not know crashes.',
      crash({ where: ({ call }) => (call?.parameters.length ?? 0) > 1 }),
    ],
  }),
};
