import { httpDate } from '../../mock/server/answer.ts';
import {
  error,
  field,
  fields,
  json,
  on,
  page,
  reset,
  type Change,
  type Edit,
} from '../../mock/deviations/deviate.ts';
import type { Exchange } from '../../mock/server/exchange.ts';
import { faults } from '../../mock/deviations/faults.ts';
import { variants } from '../../mock/deviations/variants.ts';
import { planOf } from '../../mock/server/world.ts';
import { messageOf, type ErrorStatus } from '../../schemas/endpoints.ts';
import type { SweptState } from '../../schemas/generated/types.ts';

/** What a state aims at, from the unchanged run. */
export interface Aim {
  /** Targets of lookups that got 200; those that the tests send once, if there are any. */
  readonly targets: readonly string[];
  /** Number of lookups of each endpoint that fail several times: two in all. */
  readonly perEndpoint: number;
  /** Whether a deposit was EXECUTED at each look. */
  readonly hasExecuted: boolean;
  /** Number of requests. */
  readonly requests: number;
  /** URL of another origin. */
  readonly elsewhere: string;
}

/** A state of the mock in which the tests of a client run. */
export interface State extends Pick<SweptState, 'kind' | 'what' | 'advice'> {
  /** Changes answers. */
  readonly does: (aim: Aim) => Change;
  /** `green`: only if the output has this text. `red`: only if the tests ended by themselves. */
  readonly counts?: { readonly green?: string | undefined; readonly red?: 'ended' } | undefined;
  /** Time zone of the command. Then each 200 counts as changed. */
  readonly zone?: string | undefined;
}

/** Seconds in the Retry-After of most states. */
export const LIMITED_SECONDS = 1;
/** That of the state `limited-for-an-hour`. */
export const HOUR_SECONDS = 3600;
/** Time that the state `pending-longer` adds, in ms. */
export const LONGER_MS = 300;
/** Polls that the state `more-polls` adds. */
const MORE_POLLS = 2;

const refuse =
  (status: ErrorStatus, headersOf: (exchange: Exchange) => object = () => ({})): Edit =>
  (response, exchange) => ({
    status,
    headers: { ...response.headers, ...headersOf(exchange) },
    body: JSON.stringify({ error: messageOf(exchange.call!.endpoint, status) }),
  });
const retryAfter = (seconds: number) => () => ({ 'Retry-After': `${seconds}` });
/** With a date that is a second or two ahead: it has no parts of a second. */
const limitedUntil = refuse(429, ({ now }) => ({
  'Retry-After': httpDate(now + LIMITED_SECONDS * 1000 + 1000),
}));

/** Keeps a value for each name in each world, which `make` creates at the first use. */
function memory<Value>(make: (now: number) => Value) {
  const worlds = new Map<unknown, Map<string, Value>>();
  return (world: unknown, name: string, now = 0): Value => {
    const values = worlds.get(world) ?? new Map<string, Value>();
    const value = values.get(name) ?? make(now);
    worlds.set(world, values.set(name, value));
    return value;
  };
}
const counters = () => memory(() => ({ count: 0 }));
const firstTimes = () => memory((now) => now);

/** Whether a failure may be injected: a request with a right key that no test has made preparations for. */
const mayFail = ({ call, world, status }: Exchange) =>
  call?.caller !== undefined && !world.isSetUp && status !== 429;

/** Limits each key on each endpoint for some time from its first request, in all worlds together. */
const limited = (edit: Edit) => (): Change => {
  const start = firstTimes();
  const where = ({ call, now }: Exchange) =>
    now < start('', `${call!.endpoint} ${call!.caller!.name}`, now) + LIMITED_SECONDS * 1000;
  return on(mayFail, where, edit);
};

/** Edits the first answer of each endpoint in each world. */
const first = (edit: Edit) => (): Change => {
  const requests = counters();
  return on(mayFail, ({ call, world }: Exchange) => requests(world, call!.endpoint).count++ === 0, edit);
};

/** Edits the first answers to lookups that the state aims at: each is a target in a world. */
const failFirst =
  (edit: Edit, times: number, perEndpoint: (aim: Aim) => number = () => Infinity) =>
  (aim: Aim): Change => {
    const [lookups, chosen] = [counters(), memory(() => new Set<object>())];
    const where = ({ call, request: { target }, world }: Exchange) => {
      if (!aim.targets.includes(target)) return false;
      const lookup = lookups(world, target);
      const all = chosen('', call!.endpoint);
      if (!all.has(lookup) && all.size >= perEndpoint(aim)) return false;
      all.add(lookup);
      return (lookup.count += 1) <= times;
    };
    return on(mayFail, where, edit);
  };
const failFor = (edit: Edit, times: number) => failFirst(edit, times, ({ perEndpoint }) => perEndpoint);
const failTwo = (edit: Edit) => failFor(edit, 3);

const redirect = (aim: Aim) =>
  failFirst(
    (response, { request }) => ({
      status: 307,
      headers: { ...response.headers, Location: aim.elsewhere + request.target },
      body: '',
    }),
    Infinity,
  )(aim);

/** Refuses every key from the middle of the run on. */
function expireKeys({ requests }: Aim): Change {
  let answered = 0;
  const where = ({ call }: Exchange) => call?.caller !== undefined && answered++ >= Math.floor(requests / 2);
  return on(where, refuse(401));
}

const notFound = refuse(404);

/** Hides EXECUTED deposits: those that polls execute only if there are no others, because tests poll them in vain. */
const hideExecuted = ({ hasExecuted }: Aim) =>
  on(({ finding }: Exchange) => {
    return finding.kind === 'executed' && (!hasExecuted || finding.deposit.state === 'EXECUTED');
  }, notFound);

const isPolled = ({ finding }: Exchange) =>
  finding.kind === 'executed' && planOf(finding.deposit)?.afterPolls !== undefined;
/** Finds a deposit that polls execute pending, as long as `isStill`. */
const pendingWhile = (isStill: (exchange: Exchange, id: string) => boolean) =>
  on(mayFail, isPolled, (exchange: Exchange) => isStill(exchange, exchange.call!.value!), notFound);
const pendingForPolls = () => {
  const polls = counters();
  return pendingWhile(({ world }, id) => (polls(world, id).count += 1) <= MORE_POLLS);
};
const pendingForLonger = () => {
  const start = firstTimes();
  return pendingWhile(({ world, now }, id) => now < start(world, id, now) + LONGER_MS);
};

const member = { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' };
const inverted = on(
  'user-status',
  200,
  json(({ is_under_ib }) => (is_under_ib === true ? { is_under_ib: false, date_joined: null } : member)),
);

/** Makes a user a member after the first look at it in each world. */
function beginMembership(): Change {
  const looks = counters();
  const isAgain = ({ call, world }: Exchange) => looks(world, call!.value!).count++ > 0;
  return on(mayFail, 'user-status', ['foreign', 'unknown'], isAgain, fields(member));
}

/** At UTC-11, this is still the day before. */
const EARLY_MS = 86_400_000 + 5 * 3_600_000;
const joinedNextDay = on(
  'member',
  field('date_joined', (at: string) => new Date(Date.parse(at.slice(0, 10)) + EARLY_MS).toISOString()),
);
const nearlyACentMore = on(
  'executed',
  field('amountInUsd', (amount: number) => Number((amount + 0.0099).toFixed(4))),
);

const html = (words: string) => `<html><head><title>${words}</title></head><body>${words}</body></html>`;

const wrongPath = on(page(html('404 Not Found'), 404));
const otherNotFound = on(404, ({ call }) => call !== undefined, error(404, 'Not Found'));
const OTHER_TEXT = 'Another text, by ib-conformance sweep';
const otherText = on((response, exchange) =>
  response.status < 400 ? {} : fields({ error: OTHER_TEXT })(response, exchange),
);

const unavailable = error(503, 'Service unavailable');
const delay =
  (delayMs: number): Edit =>
  () => ({ delayMs });
const always = (change: Change) => () => change;

const wait = 'after a 429, wait as long as Retry-After says, or longer each time, and retry';
const read = 'read fields by their names, and ignore unknown header fields';
const retry = 'retry after a short wait: both endpoints only read';
const isJson = 'check that an answer is JSON, and retry if it is not';
const slow = 'wait longer than two seconds for an answer';
const members = 'assert who is under the IB and who is not';
const executed = 'assert that an EXECUTED deposit is found';
const poll = 'poll until 200, limited by time and not by a number of polls';
const path = 'give up at a 404 that is not `Deposit not found`: the URL is wrong';
const text = 'assert the text of an error that your client shows to a person';
const expires = 'assert results, so that an expired key is noticed';
const utc = 'read times as UTC, with their Z, in any time zone';
const cents = 'assert the amount, and do not cut it to cents: round it, or keep all digits';
const kathmandu = { zone: 'Asia/Kathmandu' };
const rule = 'see the rule that the state shows';

/** `what` and `does` come from the fault or variant with the same id, unless they are set. */
type StateText = readonly [
  advice: string,
  what?: string,
  does?: State['does'],
  more?: Pick<State, 'counts' | 'zone'>,
];

const rows: Readonly<Record<State['kind'], Readonly<Record<string, StateText>>>> = {
  survive: {
    limited: [
      wait,
      'A key gets 429 for a second, with Retry-After.',
      limited(refuse(429, retryAfter(LIMITED_SECONDS))),
    ],
    'limited-without-retry-after': [
      wait,
      'A key gets 429 for a second, without Retry-After.',
      limited(refuse(429)),
    ],
    'limited-until-date': [wait, 'A key gets 429 for a second, with a date.', limited(limitedUntil)],
    'limited-thrice': [wait, 'Two lookups get 429 three times, without Retry-After.', failTwo(refuse(429))],
    'security-headers': [read],
    'fields-reversed': [read],
  },
  advice: {
    'time-zone': [utc, 'The client runs in the time zone of Kathmandu.', always((from) => from), kathmandu],
    'more-polls': [poll, 'Polls execute a deposit two polls later.', pendingForPolls],
    '503': [retry, 'The first answers are 503.', first(unavailable)],
    '502-html': [retry, 'The first answers are 502 with HTML.', first(page(html('502 Bad Gateway'), 502))],
    '200-html': [isJson, 'The first answers are 200 with HTML.', first(page(html('Maintenance'), 200))],
    reset: [retry, 'The first connections are reset instead of an answer.', first(reset)],
    timeout: [`set a timeout, and ${retry}`, 'The first requests get no answer.', first(delay(600_000))],
    'slow:2s': [slow, 'The first answers take two seconds.', first(delay(2000))],
    truncate: [
      retry,
      'The first answers break off in the middle.',
      first(() => ({ transportFault: 'truncate' })),
    ],
  },
  notice: {
    'amount-in-cents': ['assert the amount of an EXECUTED deposit'],
    'time-in-seconds': ['assert the time of an EXECUTED deposit'],
    'membership-inverted': [members, 'Members become non-members, and vice versa.', always(inverted)],
    'foreign-user-is-member': [members],
    'pending-as-executed': ['assert that a pending deposit does not count as EXECUTED'],
    'executed-not-found': [executed, 'An EXECUTED deposit is not found.', hideExecuted],
    'wrong-path': [
      path,
      'Each request gets a 404 with HTML.',
      always(wrongPath),
      { counts: { red: 'ended' } },
    ],
  },
  suggest: {
    'other-not-found': [path, 'Deposits get a 404 with another text.', always(otherNotFound)],
    'other-error-text': [
      text,
      'Errors have another text.',
      always(otherText),
      { counts: { green: OTHER_TEXT } },
    ],
    'joined-next-day': [
      `${utc}, and assert the day`,
      'Members joined a day later, which is the same day in the time zone of the client.',
      always(joinedNextDay),
      { zone: 'Pacific/Pago_Pago' },
    ],
    'amount-nearly-a-cent-more': [cents, 'An amount is 0.0099 USD higher.', always(nearlyACentMore)],
    'membership-begins': [
      'ask again about a user who is not a member, and assert the answer',
      'Users who are not members become members after the first look.',
      beginMembership,
    ],
    'key-expires': [expires, 'Every key is refused from the middle of the run on.', expireKeys],
  },
  probe: {
    'limited-for-an-hour': [
      rule,
      'Two lookups get 429, with an hour in Retry-After.',
      failFor(refuse(429, retryAfter(HOUR_SECONDS)), Infinity),
    ],
    '503-thrice': [rule, 'Two lookups get 503 three times.', failTwo(unavailable)],
    'refused-once': [rule, 'Each lookup gets 401 once.', failFirst(refuse(401), 1)],
    'invalid-once': [rule, 'Each lookup gets 400 once.', failFirst(refuse(400), 1)],
    'pending-longer': [rule, `Polled deposits are pending for ${LONGER_MS} ms more.`, pendingForLonger],
    redirected: [rule, 'Lookups are redirected to another host name and port.', redirect],
  },
};

/** Every state by its id, in the order of the report. */
export const states: ReadonlyMap<string, State> = new Map(
  (Object.keys(rows) as State['kind'][]).flatMap((kind) =>
    Object.entries(rows[kind]).map(([id, [advice, what, does, more]]) => {
      const known = faults[id] ?? variants[id];
      const change = does ?? always(known!.change);
      return [id, { kind, advice, what: what ?? known!.what, does: change, ...more }] as const;
    }),
  ),
);
