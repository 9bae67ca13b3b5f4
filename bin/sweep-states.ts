import type { Behaviour } from '../mock/behaviour.ts';
import type { Exchange } from '../mock/exchange.ts';
import { faults } from '../mock/faults.ts';
import { editPayload, editResponse, type Change } from '../mock/faults/edits.ts';
import { variants } from '../mock/variants.ts';
import { endpoints } from '../schemas/endpoints.ts';
import type { SweptState } from '../schemas/generated/types.ts';

/** A state of the mock in which the tests of a client run. */
export interface State extends Pick<SweptState, 'kind' | 'what' | 'advice'> {
  /** If undefined, the id is a kind of chaos, which hits the first request of each world. */
  readonly change: Change | undefined;
  /** A green run counts only if this text is in its output. */
  readonly shows: string | undefined;
}

const LIMITED_SECONDS = 1;

/** Limits each key on each endpoint for some time from its first request. */
const limited: Change = (behaviour) => {
  const ends = new Map<string, number>();
  const where = ({ call, now }: Exchange) => {
    const name = `${call?.endpoint} ${call?.caller?.name}`;
    if (!ends.has(name)) ends.set(name, now + LIMITED_SECONDS * 1000);
    return call?.caller !== undefined && now < ends.get(name)!;
  };
  const refuse = editResponse(({ headers }, { call }) => ({
    status: 429,
    headers: { ...headers, 'Retry-After': `${LIMITED_SECONDS}` },
    body: JSON.stringify({ error: endpoints[call!.endpoint].messages[429] }),
  }));
  return refuse({ where })(behaviour);
};

const withoutRetryAfter = variants['retry-after-left-out']!.change;

const MORE_POLLS = 2;

/** Executes a deposit with `afterPolls` after more polls. */
const morePolls: Change = (behaviour) => {
  const extraPolls = new Map<string, number>();
  const executionOf: Behaviour['executionOf'] = (world, deposit, now) => {
    const execution = behaviour.executionOf(world, deposit, now);
    const isPolled = deposit.state === 'pending' && deposit.becomes?.afterPolls !== undefined;
    const polls = extraPolls.get(deposit.reference_id) ?? 0;
    if (execution === undefined || !isPolled || polls === MORE_POLLS) return execution;
    extraPolls.set(deposit.reference_id, polls + 1);
    return undefined;
  };
  return { ...behaviour, executionOf };
};

const inverted = editPayload(({ is_under_ib }) =>
  is_under_ib === true
    ? { is_under_ib: false, date_joined: null }
    : { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' },
)({ endpoint: 'user-status', status: 200 });

const OTHER_TEXT = 'Another text, by ib-conformance sweep';
const otherText = editPayload((payload) => ('error' in payload ? { error: OTHER_TEXT } : payload))();

const wait = 'after a 429, wait as long as Retry-After says, or longer each time, and retry';
const read = 'read fields by their names, and ignore unknown header fields';
const retry = 'retry after a short wait: both endpoints only read';
const members = 'assert who is under the IB and who is not';

/** `what` and `change` come from the fault, variant or kind of chaos with the same id, unless they are set. */
type Row = readonly [advice: string, what?: string, change?: Change, shows?: string];

const rows: Readonly<Record<State['kind'], Readonly<Record<string, Row>>>> = {
  survive: {
    'more-polls': [
      'poll until 200, limited by time and not by a number of polls',
      'Polls execute a deposit two polls later.',
      morePolls,
    ],
    limited: [wait, 'Each key is limited for a second, with Retry-After.', limited],
    'limited-without-retry-after': [
      wait,
      'Each key is limited for a second, without Retry-After.',
      (behaviour) => withoutRetryAfter(limited(behaviour)),
    ],
    'security-headers': [read],
    'fields-reversed': [read],
  },
  advice: {
    '503': [retry],
    reset: [retry],
    timeout: [`set a timeout, and ${retry}`],
    'slow:2s': ['wait longer than two seconds for an answer'],
    truncate: [retry],
  },
  notice: {
    'amount-in-cents': ['assert the amount of an EXECUTED deposit'],
    'time-in-seconds': ['assert the time of an EXECUTED deposit'],
    'membership-inverted': [members, 'Members become non-members, and vice versa.', inverted],
    'foreign-user-is-member': [members],
    'pending-as-executed': ['assert that a pending deposit does not count as EXECUTED'],
    'executed-not-found': ['assert that an EXECUTED deposit is found'],
    'other-error-text': [
      'assert the text of an error that your client shows',
      'Errors have another text (counts if the client shows it).',
      otherText,
      OTHER_TEXT,
    ],
  },
};

/** Every state by its id, in the order of the report. */
export const states: ReadonlyMap<string, State> = new Map(
  (Object.keys(rows) as State['kind'][]).flatMap((kind) =>
    Object.entries(rows[kind]).map(([id, [advice, what, change, shows]]) => {
      const known = faults[id] ?? variants[id];
      const does = what ?? known?.what ?? `The first request gets the failure ${id}.`;
      return [id, { kind, advice, what: does, change: change ?? known?.change, shows }] as const;
    }),
  ),
);

type Part = (...given: readonly unknown[]) => unknown;

/** Wraps a change: calls `onChange` whenever the change makes a difference to an answer or a decision. */
export const observeChange =
  (change: Change, onChange: () => void): Change =>
  (from) => {
    const before = from as unknown as Readonly<Record<string, Part>>;
    const parts = Object.entries(change(from) as unknown as typeof before).map(([name, part]) => {
      if (part === before[name] || typeof part !== 'function') return [name, part];
      const observedPart: Part = (...given) => {
        const decided = part(...given);
        if (JSON.stringify(decided) !== JSON.stringify(before[name]!(...given))) onChange();
        return decided;
      };
      return [name, observedPart];
    });
    return Object.fromEntries(parts) as Behaviour;
  };
