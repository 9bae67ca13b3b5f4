/** A rule for clients. The documentation's table is derived from this list. */
export interface Rule {
  readonly id: string;
  /** What a client that follows the rule did. */
  readonly title: string;
  readonly clause: string;
  /** What breaks the rule, and how much of it is allowed. */
  readonly counts: string;
  readonly advice: string;
  /** What must have happened to judge the rule. */
  readonly needs: string;
  /** The other reading of the requests that `unclear` names. */
  readonly otherwise: string;
  /** Whether a broken rule fails `sweep`. The others are advice. */
  readonly level: 'required' | 'advice';
}

/** A pause between requests below this time (ms) is none, unless the pauses double. */
const NO_PAUSE_MS = 50;
/** A pause between requests below this time (ms) is none. */
const SURELY_NO_PAUSE_MS = 10;
/** A wait may be too short by this much (ms), because clocks are coarse. */
export const CLOCK_TOLERANCE_MS = 100;
/** A pause of this length (ms) may be the client's maximum, and need not grow. */
export const LONGEST_PAUSE_MS = 30_000;
/** Minimum pause between polls, in ms. */
export const POLL_PAUSE_MS = 20;
/** `sweep` counts polls in windows of this time, in ms. */
export const POLL_WINDOW_MS = 100;

const several = 'several tests sent the same request';

export const rules = [
  {
    id: 'wait',
    title: 'Paused before it repeated a request after a 429',
    clause: 'Errors, 429',
    counts: `two or more repeats, all pauses below ${NO_PAUSE_MS} ms and not doubling, or below ${SURELY_NO_PAUSE_MS} ms`,
    advice: 'after a 429, wait as long as Retry-After says, or longer each time',
    needs: 'a request that is repeated after a 429',
    otherwise: several,
    level: 'required',
  },
  {
    id: 'retry-after',
    title: 'Waited as long as Retry-After says',
    clause: 'Errors, 429',
    counts: `two or more repeats before the time in Retry-After; ${CLOCK_TOLERANCE_MS} ms are allowed for clocks`,
    advice: 'after a 429, do not repeat the request before the seconds or the date in Retry-After',
    needs: 'a request that is repeated after a 429 with Retry-After',
    otherwise: several,
    level: 'advice',
  },
  {
    id: 'back-off',
    title: 'Waited longer with each 429',
    clause: 'Errors, 429',
    counts: `four or more pauses that differ by at most 20 % and 10 ms; not those of Retry-After, or of ${LONGEST_PAUSE_MS / 1000} s`,
    advice: 'after each 429 for the same request, double the wait or wait as long as Retry-After says',
    needs: 'requests that are refused with 429 three times in a row',
    otherwise: several,
    level: 'advice',
  },
  {
    id: 'retry',
    title: 'Repeated a request after a 429',
    clause: 'Errors, 429',
    counts: 'a request that got a 429 and was never repeated',
    advice: 'after a 429, wait and repeat the request; if you decided otherwise, --allow retry says so',
    needs: 'a request that gets a 429',
    otherwise: 'the tests ended before the repeat',
    level: 'advice',
  },
  {
    id: 'server-errors',
    title: 'Waited longer with each 5xx',
    clause: 'Errors, other statuses',
    counts: 'two or more repeats without a pause, or four or more even pauses, as for 429',
    advice: 'repeat a request after a 5xx with growing pauses, and give up in the end',
    needs: 'a request that is repeated after two 5xx in a row',
    otherwise: several,
    level: 'advice',
  },
  {
    id: 'polling',
    title: 'Stopped polling a deposit that was EXECUTED',
    clause: 'States and transitions',
    counts: 'two or more requests after the 200, at the pace of the polls before it (20 % and 10 ms)',
    advice: 'stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED',
    needs: 'a deposit with a 404 and then a 200',
    otherwise: 'several tests looked at the deposit',
    level: 'advice',
  },
  {
    id: 'poll-pace',
    title: `Paused at least ${POLL_PAUSE_MS} ms between polls of a deposit`,
    clause: 'States and transitions',
    counts: `three or more polls of a deposit with pauses below ${POLL_PAUSE_MS} ms; in sweep, polls in ${POLL_WINDOW_MS} ms: all of the unchanged run, and ${POLL_WINDOW_MS / POLL_PAUSE_MS} for each test that polls, are allowed`,
    advice: 'wait a second or longer between two polls',
    needs: 'a deposit with two 404s in a row',
    otherwise: 'several tests looked at the deposit',
    level: 'advice',
  },
  {
    id: 'refused-request',
    title: 'Did not repeat a request that was refused as invalid',
    clause: 'Errors, 400',
    counts: 'two or more repeats of a request that got 400',
    advice: 'stop at a 400 and fix the request: a retry does not make the id valid',
    needs: 'a 400',
    otherwise: several,
    level: 'advice',
  },
  {
    id: 'refused-key',
    title: 'Did not repeat a request with a refused key',
    clause: 'Authentication 3',
    counts: 'two or more repeats of a request that got 401, with the same key',
    advice: 'stop at a 401 and alert a person: a retry does not make the key valid',
    needs: 'a 401 to a request with a key',
    otherwise: several,
    level: 'advice',
  },
  {
    id: 'encoding',
    title: 'Encoded the id',
    clause: 'Endpoints',
    counts:
      'an invalid id with another parameter after it, wrong percent-encoding, or a raw special character; an id encoded twice is unclear',
    advice: 'encode the id with the URL functions of your language, such as encodeURIComponent',
    needs: 'an id with a character that must be encoded, such as a&b',
    otherwise: 'the id itself has a percent sign',
    level: 'advice',
  },
  {
    id: 'key-out-of-url',
    title: 'Kept the key out of the URL',
    clause: 'Authentication 1',
    counts: 'a URL that contains a key, in any encoding',
    advice: 'send the key only in the Authorization header, and replace it: URLs are logged',
    needs: 'a request',
    otherwise: 'a test sent the URL itself',
    level: 'required',
  },
  {
    id: 'key-out-of-output',
    title: 'Kept the key out of the output',
    clause: 'Authentication 1',
    counts:
      'a line of output with the key of the run, in any encoding; if the unchanged run has such lines, more of them in a green run',
    advice: 'do not write the Authorization header or the key to a log',
    needs: 'output of the tests',
    otherwise: 'the tests or their runner print the key',
    level: 'required',
  },
  {
    id: 'key-for-origin',
    title: 'Kept the key from another origin',
    clause: 'Authentication 1',
    counts: 'a redirect to another host name and port, where the key arrives',
    advice: 'follow no redirects, or drop the Authorization header if host or port differ (RFC 6750, 5.3)',
    needs: 'a request that is redirected',
    otherwise: 'a test followed the redirect itself',
    level: 'required',
  },
  {
    id: 'authorization',
    title: 'Sent the Authorization header',
    clause: 'Authentication 1',
    counts:
      'two or more lookups, all without a Bearer key; in sweep, a repeat that lacks the key of the unchanged run',
    advice: 'send `Authorization: Bearer <API_KEY>` with every request',
    needs: 'a GET of an endpoint',
    otherwise: 'a test of the answer 401',
    level: 'required',
  },
  {
    id: 'get-only',
    title: 'Sent only GET requests',
    clause: 'Endpoints',
    counts: 'another method than GET; OPTIONS is the browser’s',
    advice: 'use GET; the interface has no other method',
    needs: 'a request to an endpoint',
    otherwise: 'a test of the answer 405',
    level: 'advice',
  },
] as const satisfies readonly Rule[];

export type RuleId = (typeof rules)[number]['id'];

/**
 * Judges the pauses (ms) of requests that were repeated: `none`, `even`, `growing`, or `unknown` if there are too few.
 * Each list is one request; only lists of two or more pauses count.
 */
export function paceOf(lists: readonly (readonly number[])[]): 'none' | 'even' | 'growing' | 'unknown' {
  const repeated = lists.filter(({ length }) => length >= 2);
  if (repeated.length === 0) return 'unknown';
  const doubled = (pauses: readonly number[]) => pauses.at(-1)! >= 2 * pauses[0]!;
  const isNone = (pauses: readonly number[]) => {
    const longest = Math.max(...pauses);
    return longest < SURELY_NO_PAUSE_MS || (longest < NO_PAUSE_MS && !doubled(pauses));
  };
  if (repeated.some(isNone)) return 'none';
  const all = repeated.flat();
  if (isEven(all)) return all.length >= 4 ? 'even' : 'unknown';
  return 'growing';
}

/** Whether pauses (ms) differ by at most 20 % and 10 ms. */
export const isEven = (pauses: readonly number[]) => Math.max(...pauses) <= 1.2 * Math.min(...pauses) + 10;
