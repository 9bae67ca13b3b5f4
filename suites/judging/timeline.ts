import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Timeline, TimelineRow, WaitReason } from '../../schemas/generated/types.ts';
import type { Reply } from '../answer.ts';

/** A record has at most so many rows for each endpoint. Rows of long runs are longer. */
const MAX_ROWS = 300;

type Row = TimelineRow & { readonly answers: Record<string, number> };

/** A wait; without an endpoint, for both. Times are in ms of the clock. */
interface Waited {
  readonly endpoint?: Endpoint;
  readonly reason: WaitReason;
  readonly from: number;
  readonly until: number;
}

/** Counts the answers of a run in each second, by endpoint and status class. @param startedAt in ms of the clock */
export function createTimeline(startedAt: number) {
  let seconds = 1;
  let rows = new Map<string, Row>();
  const rowAt = (at: number, endpoint: Endpoint): Row => {
    const after = Math.max(0, at - startedAt) / 1000;
    if (after >= seconds * MAX_ROWS) {
      widen();
      return rowAt(at, endpoint);
    }
    const from = Math.floor(after / seconds) * seconds;
    const row = rows.get(`${from} ${endpoint}`) ?? { from, endpoint, answers: {} };
    rows.set(`${from} ${endpoint}`, row);
    return row;
  };
  const widen = () => {
    seconds *= 2;
    const before = rows.values();
    rows = new Map();
    for (const { from, endpoint, answers, ...more } of before) {
      const row = rowAt(startedAt + 1000 * from, endpoint);
      for (const [name, count] of Object.entries(answers))
        row.answers[name] = (row.answers[name] ?? 0) + count;
      Object.assign(row, more);
    }
  };
  return {
    /** @param isChanged whether the state hook has changed the data */
    add: (endpoint: Endpoint, reply: Reply, at: number, isChanged: boolean): void => {
      if (reply.kind === 'trouble' && reply.code !== 'network' && reply.code !== 'timeout') return;
      const row = rowAt(at, endpoint);
      const name = classOf(reply);
      row.answers[name] = (row.answers[name] ?? 0) + 1;
      if (isChanged) row.isChanged = true;
    },
    /** @param waits of the run so far, which ends now */
    timelineOf: (waits: readonly Waited[], now: number): Timeline => {
      for (const { endpoint, reason, from, until } of waits)
        for (const name of endpoint === undefined ? endpointNames : [endpoint])
          for (let at = from; at < Math.min(until, now); at += 1000 * seconds) {
            const row = rowAt(at, name);
            row.waits = [...new Set([...(row.waits ?? []), reason])];
          }
      return {
        secondsPerRow: seconds,
        rows: [...rows.values()].toSorted((one, other) => one.from - other.from),
      };
    },
  };
}

/** `2xx`, `429`, `none` */
const classOf = (reply: Reply): string => {
  if (reply.kind === 'trouble') return 'none';
  return reply.status === 429 ? '429' : `${Math.floor(reply.status / 100)}xx`;
};
