import { answerWith, crash, editResponse, type Change } from '../change.ts';
import type { HttpResponse } from '../exchange.ts';
import { both, noServerErrors, rowsOf, type Faults } from './rows.ts';

/** So many others under way at once make a rush. */
const RUSH = 5;

/**
 * In a rush, lookups of what is being looked up already wait for that answer. Two places to wait in
 * are kept apart; whoever comes third finds the second one's answer in his.
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
export const stabilityFaults: Faults = {
  'answers-mixed-up': {
    what: "In a rush, callers who wait for equal lookups get each other's answers.",
    fails: ['robustness/service/concurrency'],
    change: mixesUp,
  },
  'first-answer-with-503': {
    what: 'The first answer after a start is 503.',
    fails: [noServerErrors],
    change: coldStart,
  },
  'other-methods-with-500': {
    what: 'Other methods than GET and HEAD are answered with 500.',
    fails: [noServerErrors],
    change: answerWith({ kinds: ['noSuchMethod'] }, 500),
  },
  'head-crashes': {
    what: 'HEAD crashes.',
    fails: [noServerErrors],
    change: crash({ where: ({ request }) => request.method === 'HEAD' }),
  },
  'unknown-parameter-crashes': {
    what: 'A parameter that it does not know crashes.',
    fails: [...rowsOf('invalid-uuid', both, 'empty', 'hostile'), noServerErrors],
    change: crash({ where: ({ call }) => (call?.parameters.length ?? 0) > 1 }),
  },
  'trailing-slash-crashes': {
    what: 'A trailing slash in the path crashes.',
    fails: [noServerErrors],
    change: crash({ where: ({ request }) => /\/(\?|$)/.test(request.target) }),
  },
};
