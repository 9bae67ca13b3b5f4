import { error, fields, json, on, page, type Change, type Edit } from '../../mock/deviate.ts';
import type { Answered, Exchange } from '../../mock/exchange.ts';
import { faults } from '../../mock/faults.ts';
import { httpDate } from '../../mock/answer.ts';
import type { World } from '../../mock/world.ts';
import { LIMITED_SECONDS, LONGER_MS } from './rules.ts';
import { variants } from '../../mock/variants.ts';
import { endpoints } from '../../schemas/endpoints.ts';
import type { SweptState } from '../../schemas/generated/types.ts';

/** What a state aims at, from the unchanged run. */
export interface Aim {
  /** Targets of lookups that got 200; those that the tests send once, if there are any. */
  readonly targets: readonly string[];
  /** Two of them, one of each endpoint if possible. */
  readonly two: readonly string[];
  /** Whether a deposit was EXECUTED at each look. */
  readonly hasExecuted: boolean;
  /** Number of requests. */
  readonly requests: number;
  /** URL of another origin. */
  readonly elsewhere: string;
}

/** A state of the mock in which the tests of a client run. */
export interface State extends Pick<SweptState, 'kind' | 'what' | 'advice'> {
  /** If undefined, the id is a kind of chaos, which hits the first request of each world. */
  readonly change: ((aim: Aim) => Change) | undefined;
  /** A green run counts only if this text is in its output. */
  readonly shows: string | undefined;
}

type HeadersOf = (exchange: Exchange) => Readonly<Record<string, string>>;
const refuse =
  (status: 400 | 401 | 429, headersOf: HeadersOf = () => ({})): Edit =>
  (response, exchange) => ({
    status,
    headers: { ...response.headers, ...headersOf(exchange) },
    body: JSON.stringify({ error: endpoints[exchange.call!.endpoint].messages[status] }),
  });

const retryAfter: HeadersOf = () => ({ 'Retry-After': `${LIMITED_SECONDS}` });
/** A date that is a second or two ahead: it has no parts of a second. */
const retryAfterDate: HeadersOf = ({ now }) => ({
  'Retry-After': httpDate(now + (LIMITED_SECONDS + 1) * 1000),
});

/** Creates a function that says whether less than some time (ms) passed since its first call with a name. */
function withinFirst(ms: number) {
  const ends = new Map<string, number>();
  return (name: string, now: number) => {
    if (!ends.has(name)) ends.set(name, now + ms);
    return now < ends.get(name)!;
  };
}

/** Limits each key on each endpoint for some time from its first request. */
const limited =
  (edit: Edit): Change =>
  (behaviour) => {
    const isLimited = withinFirst(LIMITED_SECONDS * 1000);
    const where = ({ call, now }: Exchange) =>
      call?.caller !== undefined && isLimited(`${call.endpoint} ${call.caller.name}`, now);
    return on(where, edit)(behaviour);
  };

/** Edits the first answers to each of some targets, in all worlds together. */
function editFirst(edit: Edit, targets: readonly string[], times: number): Change {
  const left = new Map(targets.map((target) => [target, times]));
  const where = ({ request, call }: Exchange) => {
    const more = left.get(request.target) ?? 0;
    if (call?.caller === undefined || more === 0) return false;
    left.set(request.target, more - 1);
    return true;
  };
  return on(where, edit);
}

/** Refuses every key from the middle of the run on. */
function expireKeys({ requests }: Aim): Change {
  let answered = 0;
  const where = ({ call }: Exchange) => call?.caller !== undefined && answered++ >= Math.floor(requests / 2);
  return on(where, refuse(401));
}

const notFound = error(404, endpoints['deposit-check'].messages[404]);

/** Hides EXECUTED deposits: those that polls execute only if there are no others, because tests poll them in vain. */
const hideExecuted = ({ hasExecuted }: Aim): Change => {
  const where = ({ finding }: Exchange) =>
    finding.kind === 'executed' && (!hasExecuted || finding.deposit.state === 'EXECUTED');
  return on(where, notFound);
};

const redirect = ({ targets, elsewhere }: Aim): Change =>
  editFirst(
    (response, { request }) => ({
      status: 307,
      headers: { ...response.headers, Location: elsewhere + request.target },
      body: '',
    }),
    targets,
    Infinity,
  );

/** The page of a gateway in front of the service. */
const gateway = (status: number, words: string) => (): Change => {
  const isFirst = new WeakSet<World>();
  const where = ({ call, world }: Exchange) => {
    if (call?.caller === undefined || isFirst.has(world)) return false;
    isFirst.add(world);
    return true;
  };
  return on(
    where,
    page(`<html><head><title>${status} ${words}</title></head><body><h1>${words}</h1></body></html>`, status),
  );
};

/** Finds a deposit that polls execute pending, as long as `stillOf` says so. */
const pendingFor =
  (stillOf: () => (id: string, now: number) => boolean): Change =>
  (behaviour) => {
    const isStill = stillOf();
    const where = ({ finding, now }: Exchange) => {
      if (finding.kind !== 'executed' || finding.deposit.state !== 'pending') return false;
      const { becomes, reference_id } = finding.deposit;
      return becomes?.afterPolls !== undefined && isStill(reference_id, now);
    };
    return on(where, notFound)(behaviour);
  };

const MORE_POLLS = 2;
const pendingForMorePolls = pendingFor(() => {
  const polls = new Map<string, number>();
  return (id) => {
    polls.set(id, (polls.get(id) ?? 0) + 1);
    return polls.get(id)! <= MORE_POLLS;
  };
});

const inverted = on(
  'user-status',
  200,
  json(({ is_under_ib }) =>
    is_under_ib === true
      ? { is_under_ib: false, date_joined: null }
      : { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' },
  ),
);

const OTHER_TEXT = 'Another text, by ib-conformance sweep';
const otherText = on((response, exchange) =>
  response.status < 400 ? {} : fields({ error: OTHER_TEXT })(response, exchange),
);

const wait = 'after a 429, wait as long as Retry-After says, or longer each time, and retry';
const read = 'read fields by their names, and ignore unknown header fields';
const retry = 'retry after a short wait: both endpoints only read';
const members = 'assert who is under the IB and who is not';

/** `what` and `change` come from the fault, variant or kind of chaos with the same id, unless they are set. */
type Row = readonly [advice: string, what?: string, change?: (aim: Aim) => Change, shows?: string];

const always = (change: Change) => () => change;
const probed = 'see the rule that the state shows';

const rows: Readonly<Record<State['kind'], Readonly<Record<string, Row>>>> = {
  survive: {
    'more-polls': [
      'poll until 200, limited by time and not by a number of polls',
      'Polls execute a deposit two polls later.',
      always(pendingForMorePolls),
    ],
    limited: [
      wait,
      'Each key is limited for a second, with Retry-After.',
      always(limited(refuse(429, retryAfter))),
    ],
    'limited-without-retry-after': [
      wait,
      'Each key is limited for a second, without Retry-After.',
      always(limited(refuse(429))),
    ],
    'security-headers': [read],
    'fields-reversed': [read],
  },
  advice: {
    '503': [retry],
    '502-html': [retry, 'The first request gets a gateway’s 502 with HTML.', gateway(502, 'Bad Gateway')],
    '504-html': [retry, 'The first request gets a gateway’s 504 with HTML.', gateway(504, 'Gateway Timeout')],
    reset: [retry],
    timeout: [`set a timeout, and ${retry}`],
    'slow:2s': ['wait longer than two seconds for an answer'],
    truncate: [retry],
  },
  notice: {
    'amount-in-cents': ['assert the amount of an EXECUTED deposit'],
    'time-in-seconds': ['assert the time of an EXECUTED deposit'],
    'membership-inverted': [members, 'Members become non-members, and vice versa.', always(inverted)],
    'foreign-user-is-member': [members],
    'pending-as-executed': ['assert that a pending deposit does not count as EXECUTED'],
    'executed-not-found': [
      'assert that an EXECUTED deposit is found',
      'An EXECUTED deposit is not found.',
      hideExecuted,
    ],
  },
  suggest: {
    'other-error-text': [
      'assert the text of an error that your client shows to a person',
      'Errors have another text (counts if the client shows it).',
      always(otherText),
      OTHER_TEXT,
    ],
    'key-expires': [
      'assert results, so that an expired key is noticed',
      'Every key is refused from the middle of the run on.',
      expireKeys,
    ],
  },
  probe: {
    'limited-twice': [
      probed,
      'Two requests are refused with 429 twice, with Retry-After.',
      ({ two }) => editFirst(refuse(429, retryAfter), two, 2),
    ],
    'limited-until-date': [
      probed,
      'Two requests are refused with 429 twice, with a date in Retry-After.',
      ({ two }) => editFirst(refuse(429, retryAfterDate), two, 2),
    ],
    'limited-thrice': [
      probed,
      'Two requests are refused with 429 three times, without Retry-After.',
      ({ two }) => editFirst(refuse(429), two, 3),
    ],
    '503-thrice': [
      probed,
      'Two requests get 503 three times.',
      ({ two }) => editFirst(error(503, 'Service unavailable'), two, 3),
    ],
    'refused-once': [
      probed,
      'Each request is refused with 401 once.',
      ({ targets }) => editFirst(refuse(401), targets, 1),
    ],
    'invalid-once': [
      probed,
      'Each request is refused with 400 once.',
      ({ targets }) => editFirst(refuse(400), targets, 1),
    ],
    'pending-longer': [
      probed,
      `Deposits that polls execute stay pending for ${LONGER_MS} ms more.`,
      always(pendingFor(() => withinFirst(LONGER_MS))),
    ],
    redirected: [probed, 'Requests are redirected to another host name and port.', redirect],
  },
};

/** Every state by its id, in the order of the report. */
export const states: ReadonlyMap<string, State> = new Map(
  (Object.keys(rows) as State['kind'][]).flatMap((kind) =>
    Object.entries(rows[kind]).map(([id, [advice, what, change, shows]]) => {
      const known = faults[id] ?? variants[id];
      const does = what ?? known?.what ?? `The first request gets the failure ${id}.`;
      return [
        id,
        { kind, advice, what: does, change: change ?? (known && always(known.change)), shows },
      ] as const;
    }),
  ),
);

/** Wraps a change: calls `onChange` whenever it reads a request as another one, or edits an answer. */
export const observeChange =
  (change: Change, onChange: () => void): Change =>
  (from) => {
    let plain: Answered | undefined;
    const changed = change({
      ...from,
      around: (serve) => {
        const unchanged = from.around(serve);
        return (...given) => (plain = unchanged(...given));
      },
    });
    return {
      ...changed,
      around: (serve) => {
        const observed = changed.around(serve);
        return (world, request, now) => {
          const answered = observed(world, request, now);
          const isRead = plain?.exchange.request !== request;
          if (isRead || JSON.stringify(plain?.response) !== JSON.stringify(answered.response)) onChange();
          return answered;
        };
      },
    };
  };
