import type { Behaviour } from '../mock/behaviour.ts';
import type { Exchange, HttpResponse } from '../mock/exchange.ts';
import { faults } from '../mock/faults.ts';
import { editPayload, editResponse, type Change } from '../mock/faults/change.ts';
import { variants } from '../mock/variants.ts';
import type { SweptKind } from '../reports/sweep.ts';
import { endpoints } from '../schemas/endpoints.ts';

/** A state of the mock that the tests of a client run against. */
export interface State {
  readonly kind: SweptKind;
  /** What the mock does. */
  readonly what: string;
  /** What the client, or its tests, should do. */
  readonly advice: string;
  readonly changes: readonly Change[];
  /** It hits the first request of each world. */
  readonly chaos?: string;
  /** A green run counts only if this text is in its output. */
  readonly shows?: string;
}

const LIMITED_MS = 1000;

/** Each key is limited on each endpoint for a second, from its first request on. */
const limitedAtFirst: Change = (behaviour) => {
  const firstAt = new Map<string, number>();
  const isLimited = ({ call, now }: Exchange) => {
    if (call?.caller === undefined) return false;
    const name = `${call.endpoint} ${call.caller.name}`;
    firstAt.set(name, firstAt.get(name) ?? now);
    return now < firstAt.get(name)! + LIMITED_MS;
  };
  const refuse = editResponse(({ headers }, { call }) => ({
    status: 429,
    headers: { ...headers, 'Retry-After': `${LIMITED_MS / 1000}` },
    body: JSON.stringify({ error: endpoints[call!.endpoint].messages[429] }),
  }));
  return refuse({ where: isLimited })(behaviour);
};

const MORE_POLLS = 2;

/** A deposit that polls execute takes two polls more. */
const twoPollsMore: Change = (behaviour) => {
  const held = new Map<string, number>();
  return {
    ...behaviour,
    becomes: (world, deposit, now) => {
      const execution = behaviour.becomes(world, deposit, now);
      const isPolled = deposit.state === 'pending' && deposit.becomes?.afterPolls !== undefined;
      if (execution === undefined || !isPolled) return execution;
      const polls = held.get(deposit.reference_id) ?? 0;
      held.set(deposit.reference_id, polls + 1);
      return polls < MORE_POLLS ? undefined : execution;
    },
  };
};

const inverted = editPayload(({ is_under_ib }) =>
  is_under_ib === true
    ? { is_under_ib: false, date_joined: null }
    : { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' },
)({ endpoint: 'user-status', status: 200 });

const OTHER_TEXT = 'Another text, by ib-conformance sweep';
const otherText = editPayload((payload) => ('error' in payload ? { error: OTHER_TEXT } : payload))();

const without = variants['retry-after-left-out']!.change;

/** States that no fault, variant or kind of chaos of the mock is. */
const own: Readonly<Record<string, Pick<State, 'what' | 'changes' | 'shows'>>> = {
  'more-polls': { what: 'Polls execute a deposit two polls later.', changes: [twoPollsMore] },
  limited: { what: 'Each key is limited for a second, with Retry-After.', changes: [limitedAtFirst] },
  'limited-without-retry-after': {
    what: 'Each key is limited for a second, without Retry-After.',
    changes: [limitedAtFirst, without],
  },
  'membership-inverted': { what: 'Members are strangers, and strangers are members.', changes: [inverted] },
  'other-error-text': {
    what: 'Errors have another text (counts if the client shows it).',
    changes: [otherText],
    shows: OTHER_TEXT,
  },
};

const wait = 'after a 429 wait, longer each time or as long as Retry-After says, and ask again';
const read = 'read fields by their names, and ignore header fields that you do not know';
const retry = 'ask again after a short wait: both operations only read';
const members = 'assert who is under the IB and who is not';

/** What to do about each state, by its kind and id: one of our own, a fault, a variant or a kind of chaos. */
const rows: Readonly<Record<SweptKind, Readonly<Record<string, string>>>> = {
  survive: {
    'more-polls': 'poll until 200, limited by time and not by a number of polls',
    limited: wait,
    'limited-without-retry-after': wait,
    'security-headers': read,
    'fields-reversed': read,
  },
  advice: {
    '503': retry,
    reset: retry,
    timeout: `stop waiting after some time, and ${retry}`,
    'slow:2s': 'wait longer than two seconds for an answer',
    truncate: retry,
  },
  notice: {
    'amount-in-cents': 'assert the amount of an EXECUTED deposit',
    'time-in-seconds': 'assert the time of an EXECUTED deposit',
    'membership-inverted': members,
    'foreign-user-is-member': members,
    'pending-as-executed': 'assert that a pending deposit is not taken for EXECUTED',
    'executed-not-found': 'assert that an EXECUTED deposit is found',
    'other-error-text': 'assert the text of an error that your client shows',
  },
};

function partsOf(id: string): Pick<State, 'what' | 'changes' | 'chaos' | 'shows'> {
  const named = faults[id] ?? variants[id];
  if (named !== undefined) return { what: named.what, changes: [named.change] };
  return own[id] ?? { what: `The first request meets the failure ${id}.`, changes: [], chaos: id };
}

/** Every state by its id, in the order of the report. */
export const states: ReadonlyMap<string, State> = new Map(
  (Object.keys(rows) as SweptKind[]).flatMap((kind) =>
    Object.entries(rows[kind]).map(([id, advice]) => [id, { kind, advice, ...partsOf(id) }] as const),
  ),
);

/** All changes in one. `tell` is called if an answer, or what was decided about a request, is other than before. */
export function watched(changes: readonly Change[], tell: () => void): Change {
  return (from) => {
    const changed = changes.reduce<Behaviour>((behaviour, one) => one(behaviour), from);
    return {
      ...changed,
      owns: (call, partner) => {
        const isOwned = changed.owns(call, partner);
        if (isOwned !== from.owns(call, partner)) tell();
        return isOwned;
      },
      becomes: (...given) => {
        const execution = changed.becomes(...given);
        if ((execution === undefined) !== (from.becomes(...given) === undefined)) tell();
        return execution;
      },
      finish: (response, exchange) => {
        const finished = changed.finish(response, exchange);
        const body = from.write(from.payload(exchange.status, exchange));
        if (told(finished) !== told(from.finish({ ...response, body }, exchange))) tell();
        return finished;
      },
    };
  };
}

const told = ({ status, headers, body }: HttpResponse) => JSON.stringify([status, headers, body.toString()]);
