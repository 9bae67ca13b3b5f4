import { answerWith, crash, editResponse, type Difference } from './edits.ts';
import type { HttpResponse } from '../exchange.ts';
import { allErrors, both, failing, noServerErrors, idsIn, user, type Faults } from './define.ts';

/** With this many other requests in progress, the server mixes up answers. */
const BUSY_REQUESTS = 5;

const QUEUE = 5;

/** Duration of a lookup, in ms. */
const LATENCY_MS = 20;

/**
 * Under load, a lookup of a target that is in progress waits for that answer. Two lookups may wait; a third one
 * gets the answer of the second.
 */
const mixUpAnswers: Difference = (from) => {
  let recent: readonly { readonly target: string; readonly waits: boolean }[] = [];
  let last: HttpResponse | undefined;
  return editResponse((rest, { request }) => {
    // The delay lets other requests arrive, also over a network.
    const response = { ...rest, delayMs: LATENCY_MS };
    const { target, alongside = 0 } = request;
    recent = alongside < BUSY_REQUESTS ? [] : recent.slice(-Math.min(alongside, QUEUE));
    const waits = recent.some((one) => one.target === target);
    const isThird = waits && recent.filter((one) => one.waits).length >= 2;
    recent = [...recent, { target, waits }];
    const answer = isThird ? (last ?? response) : response;
    if (waits) last = response;
    return answer;
  })({ kinds: ['member', 'executed'] })(from);
};

/** A lookup waits for the answer to the same target that is in progress, whatever its key. */
const shareAnswers: Difference = (from) => {
  let recent: readonly { readonly target: string; readonly response: HttpResponse }[] = [];
  return editResponse((rest, { request }) => {
    const { target, alongside = 0 } = request;
    recent = alongside === 0 ? [] : recent.slice(-Math.min(alongside, QUEUE));
    const response = recent.find((one) => one.target === target)?.response ?? {
      ...rest,
      delayMs: LATENCY_MS,
    };
    recent = [...recent, { target, response }];
    return response;
  })({ where: ({ finding }) => finding.kind !== 'limited' })(from);
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

/** Requirements whose lookups may have an extra parameter. */
const plainRows = [
  'valid/user-status/member',
  'valid/deposit-check/executed',
  ...idsIn('foreign-ib', user, 'other-ib', 'unknown'),
  ...both.flatMap(allErrors).filter((id) => !id.startsWith('rate-limit/')),
];

/** Crashes and mixed-up answers (robustness). */
export const robustnessFaults: Faults = {
  ...failing(['robustness/service/concurrency'], {
    "answers-mixed-up: Concurrent callers of the same lookup get each other's answers": mixUpAnswers,
    'answers-shared: Equal URLs in progress get one answer, whatever the key': shareAnswers,
  }),
  ...failing(['robustness/service/concurrency', noServerErrors], {
    'crowd-crashes: A request crashes while more than 24 others are in progress': crash({
      where: ({ request }) => (request.alongside ?? 0) > 24,
    }),
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
  ...failing(
    [
      ...plainRows,
      'foreign-ib/user-status/follows-key',
      ...idsIn('invalid-uuid', both, 'hostile'),
      noServerErrors,
    ],
    {
      'unknown-parameter-crashes: An unknown parameter crashes': crash({
        where: ({ call }) => (call?.parameters.length ?? 0) > 1,
      }),
    },
  ),
};
