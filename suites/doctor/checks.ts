import type { Check, Fixture, FixtureApiKey, FixtureUser } from '../../schemas/generated/types.ts';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { header, isPage, summary, type Answer } from '../answer.ts';
import { errorAnswer, executedResult, fieldsOf, saysMember, saysNotMember } from '../expectations.ts';
import type { Known } from '../known.ts';
import { depositCheck, userStatus, type Changes, type Request } from '../request.ts';
import { readTimestamp, sameInstant } from '../timestamp.ts';
import { failed, held, type Expectation } from '../verdict.ts';

/** The result of a check, and what to do about a bad one. */
export type Finding = Pick<Check, 'outcome' | 'words' | 'mend'>;

export const good = (words: string): Finding => ({ outcome: 'good', words });
export const bad = (words: string, mend: string): Finding => ({ outcome: 'bad', words, mend });
export const unknown = (words: string): Finding => ({ outcome: 'unknown', words });

/** What to do about a server that gives no answer, by the words for it. */
const mends: readonly (readonly [words: RegExp, mend: string])[] = [
  [
    /does not resolve/,
    'Correct the host in the URL, or see why this machine cannot resolve it (DNS, VPN, hosts file).',
  ],
  [
    /refused|no route|cannot be reached/,
    'Start the server, correct host and port of the URL, or open the way to it (firewall, container port).',
  ],
  [/plain HTTP/, 'Write http://, or the port that speaks TLS.'],
  [
    /expired|another name/,
    'Renew the certificate, or write the host that it is for; --insecure leaves it unchecked.',
  ],
  [
    /certificate/,
    'Give the certificate that it is signed by with --ca, or leave it unchecked with --insecure.',
  ],
];

/** What to do about a target that gives no answer. */
export function mendOf(words: string, { protocol }: URL): string {
  const [, mend] = mends.find(([pattern]) => pattern.test(words)) ?? [];
  const orTls = protocol === 'http:' ? ', and whether it wants https://' : '';
  return (
    mend ??
    `See whether it is the port of the service${orTls}, and whether a firewall is in the way; --timeout gives an answer longer.`
  );
}

const prefix = 'Correct the URL: the paths below it are /api/ib/user-status and /api/ib/deposit-check';

/** Why an answer comes from another service; undefined where it does not. */
export function strangeService(answer: Answer): Finding | undefined {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    const location = header(answer, 'location') ?? 'nowhere';
    return bad(
      `${status}, a redirect to ${location}`,
      location.startsWith('https:')
        ? 'Redirects are never followed: give the https URL that it leads to, or the one behind the login.'
        : 'Redirects are never followed: give the URL of the service itself, behind any login page.',
    );
  }
  if (/\bhtml\b/i.test(header(answer, 'content-type') ?? '') || isPage(answer))
    return bad(
      `${status} with an HTML page: a website, or the page of a proxy`,
      `${prefix}; where a proxy answers, give what it wants with --header.`,
    );
  if (status === 404)
    return bad(
      '404: there is nothing at this path',
      `${prefix}, and it may carry a path of its own, such as https://api.example.com/gateway.`,
    );
  if (status === 403 || status === 407 || status === 511)
    return bad(
      `${status}: something in front of the service wants something else`,
      'Give what it wants with --header, or come from where it lets one in.',
    );
  return undefined;
}

/** Whether a lookup without a key gets the interface's 401. */
export function judgeKeyless(endpoint: Endpoint, answer: Answer): Finding {
  const { status } = answer;
  const strange = strangeService(answer);
  if (strange !== undefined) return strange;
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
  if (status !== 401) return unknown(`${summary(answer)}, where 401 is due to whoever has no key`);
  if (errorAnswer(endpoint, 401)(answer).kind === 'held')
    return good('401 without a key, in the words of the interface');
  // A run judges the exact text.
  return typeof fieldsOf(answer)?.['error'] === 'string'
    ? good(`401 without a key, in other words: ${summary(answer)}`)
    : unknown(`401 without a key, but no error as the interface has them: ${summary(answer)}`);
}

/** Allowed difference of the clocks around the expiry of a key, in ms. */
const EXPIRY_TOLERANCE_MS = 60_000;

/**
 * Whether a target treats a key as the fixture says.
 *
 * @param place of the key in the fixture
 */
export function judgeKey(key: FixtureApiKey, place: string, answer: Answer): Finding {
  const { status, receivedAt } = answer;
  if (status === 429)
    return key.limits === undefined
      ? unknown(limitedEarly)
      : good('limited (429), which its own limits in the fixture allow');
  const leftMs =
    key.expiresAfterSeconds === undefined ? (key.expiresAt ?? Number.POSITIVE_INFINITY) - receivedAt : 0;
  const isLetIn = status !== 401;
  const isEnding = key.state === 'active' && Math.abs(leftMs) <= EXPIRY_TOLERANCE_MS;
  const active = leftMs < -EXPIRY_TOLERANCE_MS ? 'expired by its expiresAt' : 'active';
  const partners = key.partner === null ? 'that of a non-Partner account' : active;
  const stated = key.state === 'active' ? partners : key.state;
  if (isLetIn && typeof fieldsOf(answer)?.['is_under_ib'] !== 'boolean')
    return bad(
      `answered ${summary(answer)}`,
      'A lookup of a user is answered 200 with is_under_ib, or 401 where the key is not let in.',
    );
  if (stated === 'active' && isEnding && !isLetIn) return good('turned away (401), having expired');
  if (isLetIn === (stated === 'active'))
    return good(isLetIn ? `let in (${status})` : `turned away (401), being ${stated}`);
  return isLetIn
    ? bad(
        `let in (${status}), though ${place} is ${stated}`,
        `Take it back at the target, or correct ${place}.`,
      )
    : bad(
        `turned away (401), though ${place} is ${stated}`,
        `Is it the key of an active partner there? Correct ${place}.key, or its state.`,
      );
}

const limitedEarly = 'limited (429) before anything could be seen';

/** A request, and what its answer shows. */
export interface Probe {
  readonly area: Check['area'];
  readonly subject: string;
  readonly request: Request;
  readonly judge: (answer: Answer) => Finding;
  /** Whether the key has limits of its own. */
  readonly hasOwnLimits?: boolean;
}

/** Looks up one entry of each kind with a key. A deposit that changes after some polls is not touched. */
export function samples(
  { users = [], deposits = [] }: Fixture,
  known: Known,
  key: Changes,
): readonly Probe[] {
  const one = <Entry>(
    entries: readonly Entry[],
    what: string,
    expectationOf: (entry: Entry) => Expectation,
  ) => entries.slice(0, 1).map((entry) => ({ entry, what, expectation: expectationOf(entry) }));
  const foreign = known.foreignDeposits.toSorted(
    (a, b) => Number(b.state === 'EXECUTED') - Number(a.state === 'EXECUTED'),
  );
  return [
    ...one(known.members, 'a user of the IB', joined),
    ...one(known.foreigners, 'a user outside the IB', () => saysNotMember),
    ...one(known.executed, 'EXECUTED', executedResult),
    ...one(known.pending, 'pending', () => isHidden),
    ...one(known.failed, 'failed', () => isHidden),
    ...one(foreign, 'of a user outside the IB', () => isHidden),
  ].map(({ entry, what, expectation }) => {
    const isDeposit = 'reference_id' in entry;
    const place = isDeposit ? `deposits[${deposits.indexOf(entry)}]` : `users[${users.indexOf(entry)}]`;
    return {
      area: 'fixture',
      subject: place,
      request: isDeposit ? depositCheck(entry.reference_id, key) : userStatus(entry.user_id, key),
      judge: (answer) => judgeSample(place, what, answer, expectation),
    };
  });
}

function judgeSample(place: string, what: string, answer: Answer, expectation: Expectation): Finding {
  if (answer.status === 429) return unknown(limitedEarly);
  if (answer.status === 401) return unknown('the key is turned away (401)');
  const verdict = expectation(answer);
  if (verdict.kind === 'held') return good(`${what}, as the fixture says`);
  if (verdict.kind !== 'failed') return unknown(summary(answer));
  return bad(
    `${verdict.actual}, though the fixture says ${what}: ${verdict.expected}`,
    `Correct ${place} or the data of the target, unless it is a fault of the target, which a run will tell; where several are off, see that the key under test is the partner's own.`,
  );
}

/** A run judges the body; here the status is enough. */
const isHidden: Expectation = (answer) =>
  answer.status === 404 ? held : failed('status', '404', summary(answer));

/** A run judges the format of the date; here the instant is enough. */
const joined =
  ({ date_joined: date }: FixtureUser): Expectation =>
  (answer) => {
    const verdict = saysMember(answer);
    if (verdict.kind !== 'held') return verdict;
    const actual = fieldsOf(answer)?.['date_joined'];
    const seen = typeof actual === 'string' ? readTimestamp(actual).instant : undefined;
    return seen === undefined || sameInstant(readTimestamp(date).instant!, seen)
      ? held
      : failed('value', `"date_joined": "${date}"`, `"date_joined": ${JSON.stringify(actual)}`);
  };

/** Clocks that are synchronized differ by less, in ms. */
const CLOCK_TOLERANCE_MS = 10_000;

/** Whether both clocks agree: `expiresAt` and `executedAt` depend on it. */
export function judgeClock(answers: readonly Answer[]): Finding {
  // A Date has whole seconds, and was written between request and response; a cached one has an age (RFC 9111 5.1).
  const ranges = answers.flatMap((answer) => {
    const date = Date.parse(header(answer, 'date') ?? '') + Number(header(answer, 'age') ?? 0) * 1000;
    return Number.isNaN(date) ? [] : [[date - answer.receivedAt, date + 999 - answer.sentAt] as const];
  });
  const [range] = ranges.toSorted((a, b) => a[1] - a[0] - (b[1] - b[0]));
  if (range === undefined) return unknown('no answer has a Date field that can be read');
  const [least, most] = range;
  const apart = least > 0 ? least : Math.min(most, 0);
  if (apart === 0) return good(`no difference to be seen (within ${seconds(Math.max(-least, most))})`);
  const words = `${seconds(Math.abs(apart))} ${apart > 0 ? 'ahead of' : 'behind'} this machine's`;
  return Math.abs(apart) <= CLOCK_TOLERANCE_MS
    ? good(words)
    : bad(
        words,
        'Set the clock of the target, or of this machine: the expiry of keys and executedAt are told by them.',
      );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Whether a rate limit is near: a checkup's few requests should be far below it. */
export function judgeLimits(answers: readonly Answer[], { limits }: Pick<Known, 'limits'>): Finding {
  const limited = answers.filter(({ status }) => status === 429);
  if (limited.length === 0) {
    const stated = endpointNames.filter((endpoint) => Object.hasOwn(limits, endpoint));
    return good(
      `no 429 among ${answers.length} answers; ${stated.length === 0 ? 'the fixture states no limits such as { "user-status": { "failedLookups": 60, "windowSeconds": 60 } }, so a run learns them, which takes longer' : `stated for ${stated.join(' and ')}`}`,
    );
  }
  const wait = limited.map((answer) => header(answer, 'retry-after')).find((value) => value !== undefined);
  return bad(
    `429 to ${limited.length} of ${answers.length} requests already, ${wait === undefined ? 'without Retry-After' : `Retry-After: ${wait}`}`,
    `Wait${wait === undefined || !/^\d+$/.test(wait) ? '' : ` ${wait} s`} and ask again. verify waits limiters out, and is quicker with a higher threshold or a second active key.`,
  );
}
