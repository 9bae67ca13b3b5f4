import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { chaosFor, chaosName, type ChaosPlan } from '../chaos.ts';
import { handlerOf } from '../handler.ts';
import { createWorld } from '../world.ts';
import type { Entry } from './entries.ts';

/** An answer as a client gets it: when, in ms from the start, and what. */
export interface Got {
  readonly at: number;
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

/** When a client may ask again, in ms from the start. */
export interface Hold {
  until: number;
}

/** What a worker asks for, at a time in ms from the start or when its hold ends. */
export interface Ask {
  readonly at: number;
  readonly target: string;
  readonly hold: Hold;
}

/** A worker of a client: asks, and is told the answer. */
export type Worker = Generator<Ask, void, Got>;

export interface Setting {
  readonly fixture: Fixture;
  readonly key: string;
  readonly chaos: ChaosPlan;
  /** Time in ms that a request, or an answer, takes on its way. */
  readonly way: () => number;
}

interface Event {
  readonly at: number;
  readonly happen: () => void;
}

const START = Date.UTC(2025, 0, 15, 12);

/** What the journal of a mock holds after workers have run against it side by side. Time is only counted. */
export function journalOf(
  workers: readonly Worker[],
  { fixture, key, chaos, way }: Setting,
): readonly Entry[] {
  const world = createWorld(fixture, START);
  const handle = handlerOf();
  const journal: Entry[] = [];
  const coming: Event[] = [];

  const answer = (target: string, at: number): Got => {
    const endpoint: Endpoint = target.includes(endpoints['user-status'].path)
      ? 'user-status'
      : 'deposit-check';
    const id = journal.length + 1;
    const action = chaosFor(chaos, 7, key, id);
    const request = { method: 'GET', target, headers: { authorization: `Bearer ${key}` } };
    const real = handle(world, request, START + at);
    const status = action?.kind === 'status' ? action.status : real.status;
    const waitSeconds = action?.kind === 'status' ? 1 : Number(real.headers['Retry-After']);
    const got = { at, status, ...(status === 429 ? { retryAfterSeconds: waitSeconds } : {}) };
    journal.push({
      ...got,
      id,
      at: START + at,
      world: '',
      credentialDigest: key,
      method: 'GET',
      target,
      endpoint,
      reason: '',
      keyInTarget: false,
      ...(action === undefined ? {} : { chaos: chaosName(action) }),
    });
    return got;
  };
  const goOn = (worker: Worker, got?: Got) => {
    const next = got === undefined ? worker.next() : worker.next(got);
    if (next.done !== true) plan(worker, next.value);
  };
  const plan = (worker: Worker, ask: Ask) => {
    const happen = () => {
      // Others may have been told to wait since this was planned.
      const { until } = ask.hold;
      if (ask.at < until) plan(worker, { ...ask, at: until });
      else send(worker, ask);
    };
    coming.push({ at: ask.at, happen });
  };
  const send = (worker: Worker, { at, target }: Ask) => {
    const arrives = at + way();
    const happen = () => {
      const said = answer(target, arrives);
      const returns = arrives + way();
      coming.push({ at: returns, happen: () => goOn(worker, { ...said, at: returns }) });
    };
    coming.push({ at: arrives, happen });
  };
  for (const worker of workers) goOn(worker);
  while (coming.length > 0) {
    const next = coming.reduce((first, event) => (event.at < first.at ? event : first));
    coming.splice(coming.indexOf(next), 1);
    next.happen();
  }
  return journal;
}
