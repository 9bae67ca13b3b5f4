import type { Endpoint } from '../../schemas/endpoints.ts';
import { header, summary, type Answer } from '../answer.ts';
import { errorAnswer, fieldsOf } from '../expectations.ts';
import { bad, good, unknown, type Finding } from './finding.ts';

const prefix = 'Correct the URL: the paths below it are /api/ib/user-status and /api/ib/deposit-check';

/** Signs that the answer to a lookup without a key comes from another service; the first that fits counts. */
const strangers: readonly {
  readonly fits: (answer: Answer) => boolean;
  readonly words: (answer: Answer) => string;
  readonly mend: (answer: Answer) => string;
}[] = [
  {
    fits: ({ status }) => status >= 300 && status < 400,
    words: (answer) => `${answer.status}, a redirect to ${header(answer, 'location') ?? 'nowhere'}`,
    mend: (answer) =>
      (header(answer, 'location') ?? '').startsWith('https:')
        ? 'Redirects are never followed: give the https URL that it leads to, or the one behind the login.'
        : 'Redirects are never followed: give the URL of the service itself, behind any login page.',
  },
  {
    fits: (answer) => isHtml(answer),
    words: ({ status }) => `${status} with an HTML page: a website, or the page of a proxy`,
    mend: () => `${prefix}; where a proxy answers, give what it wants with --header.`,
  },
  {
    fits: (answer) => answer.status === 404,
    words: ({ status }) => `${status}: there is nothing at this path`,
    mend: () => `${prefix}, and it may carry a path of its own, such as https://api.example.com/gateway.`,
  },
  {
    fits: ({ status }) => [403, 407, 511].includes(status),
    words: ({ status }) => `${status}: something in front of the service wants something else`,
    mend: () => 'Give what it wants with --header, or come from where it lets one in.',
  },
];

const isHtml = (answer: Answer) =>
  /\bhtml\b/i.test(header(answer, 'content-type') ?? '') || /^\s*<(?:!doctype|html)\b/i.test(answer.text);

/** Whether an answer is plainly not of this interface. */
export const isStrange = (answer: Answer) => strangers.some(({ fits }) => fits(answer));

/** What the answer to a lookup without a key says of the service: 401, as an error of the interface. */
export function keyless(endpoint: Endpoint, answer: Answer): Finding {
  const { status } = answer;
  const stranger = strangers.find(({ fits }) => fits(answer));
  if (stranger !== undefined) return bad(stranger.words(answer), stranger.mend(answer));
  if (status === 401) return refusal(endpoint, answer);
  if (status >= 500)
    return bad(
      `${status}: it is there, and ill`,
      'See the log of the server: a lookup without a key is answered 401.',
    );
  if (status < 300)
    return bad(
      `${summary(answer)}, without a key`,
      'Is it this service? It answers 401 to whoever has no key.',
    );
  return unknown(`${summary(answer)}, where 401 is due to whoever has no key`);
}

function refusal(endpoint: Endpoint, answer: Answer): Finding {
  if (errorAnswer(endpoint, 401)(answer).kind === 'held')
    return good('401 without a key, in the words of the interface');
  // Its very words are judged by a run.
  return typeof fieldsOf(answer)?.['error'] === 'string'
    ? good(`401 without a key, in other words: ${summary(answer)}`)
    : unknown(`401 without a key, but no error as the interface has them: ${summary(answer)}`);
}
