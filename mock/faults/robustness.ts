import { answerWith, crash, editResponse, type Difference } from './change.ts';
import type { HttpResponse } from '../exchange.ts';
import { allErrorRows, both, failing, noServerErrors, rowsOf, user, type Faults } from './table.ts';

/** With this many other requests in progress the server mixes up answers. */
const RUSH = 5;

const QUEUE = 5;

/** How long a lookup takes, in ms. */
const LATENCY = 20;

/**
 * In a rush, a lookup of a target that is being looked up waits for that answer. There is room for two
 * that wait; a third one gets the answer of the second.
 */
const mixesUp: Difference = (from) => {
  let recent: readonly { readonly target: string; readonly waits: boolean }[] = [];
  let last: HttpResponse | undefined;
  return editResponse((rest, { request }) => {
    // Over a network, others come in meanwhile.
    const response = { ...rest, delayMs: LATENCY };
    const { target, alongside = 0 } = request;
    recent = alongside < RUSH ? [] : recent.slice(-Math.min(alongside, QUEUE));
    const waits = recent.some((one) => one.target === target);
    const isThird = waits && recent.filter((one) => one.waits).length >= 2;
    recent = [...recent, { target, waits }];
    const answer = isThird ? (last ?? response) : response;
    if (waits) last = response;
    return answer;
  })({ kinds: ['member', 'executed'] })(from);
};

const coldStart: Difference = (from) => {
  let isCold = true;
  const where = () => {
    const wasCold = isCold;
    isCold = false;
    return wasCold;
  };
  return answerWith(503, { error: 'Service unavailable' })({ where })(from);
};

/** Whatever is asked for, a further parameter may stand beside it. */
const plainRows = [
  'valid/user-status/member',
  'valid/deposit-check/executed',
  ...rowsOf('foreign-ib', user, 'other-ib', 'unknown'),
  ...both.flatMap(allErrorRows).filter((id) => !id.startsWith('rate-limit/')),
];

/** Crashes, and answers that get mixed up (robustness). */
export const robustnessFaults: Faults = {
  ...failing(['robustness/service/concurrency'], {
    "answers-mixed-up: Concurrent callers of equal lookups get each other's answers": mixesUp,
  }),
  ...failing([noServerErrors], {
    'first-answer-with-503: The first answer after a start is 503': coldStart,
    'other-methods-with-500: Methods other than GET and HEAD get 500': answerWith(500)({
      kinds: ['noSuchMethod'],
    }),
    'head-crashes: HEAD crashes': crash({ where: ({ request }) => request.method === 'HEAD' }),
    'trailing-slash-crashes: A trailing slash in the path crashes': crash({
      where: ({ request }) => /\/(\?|$)/.test(request.target),
    }),
  }),
  ...failing([...plainRows, ...rowsOf('invalid-uuid', both, 'hostile'), noServerErrors], {
    'unknown-parameter-crashes: A parameter that it does not know crashes': crash({
      where: ({ call }) => (call?.parameters.length ?? 0) > 1,
    }),
  }),
};
