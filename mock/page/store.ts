import type { ShownFaults } from '../controls.ts';
import type { ShownKey, ShownLimits } from '../controls/data.ts';
import type { JournalEntry } from '../journal.ts';
import type { MagicValue } from '../magic-values.ts';
import type { DepositNow, User } from '../world.ts';

/** A part of a list, and how many items it has in all. */
export type Listed<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & {
  readonly meta: { readonly total: number };
};
/** What the page reads from the admin API, by path. */
export interface Answers {
  readonly clock: { readonly now: number; readonly rate: number };
  readonly deposits: Listed<'deposits', DepositNow>;
  readonly keys: Listed<'keys', ShownKey>;
  readonly users: Listed<'users', User>;
  readonly limits: ShownLimits;
  readonly faults: ShownFaults;
  readonly scorecard: {
    readonly rules: readonly {
      readonly id: string;
      readonly title: string;
      readonly outcome: 'kept' | 'broken' | 'notSeen';
      readonly advice?: string;
      readonly needs?: string;
    }[];
  };
  readonly requests: { readonly requests: readonly JournalEntry[] };
  readonly worlds: { readonly worlds: readonly string[] };
  /** `port` is that of the service if the admin API has its own. */
  readonly 'magic-values': {
    readonly port?: number;
    readonly values: readonly MagicValue[];
  };
}
const names = 'clock deposits keys users limits requests faults scorecard worlds magic-values';
const paths = names.split(' ') as (keyof Answers)[];
/** Least time between two loads: a busy mock gets no more calls than a page can show. */
const PACE_MS = 200;

/** Everything the page shows. */
export const state = {
  connection: 'Connecting',
  /** Why the mock wants a token, or wants another one; undefined if it wants none. */
  signInError: undefined as string | undefined,
  /** Name of the world that is shown; the main world has the empty name. */
  world: new URLSearchParams(location.search).get('world') ?? '',
  answers: undefined as Answers | undefined,
  /** When the answers came, in ms of `performance.now()`. */
  receivedAt: 0,
  lists: {
    deposits: { limit: 25, contains: '' },
    keys: { limit: 25, contains: '' },
    users: { limit: 25, contains: '' },
    requests: { limit: 100 },
  },
  /** Clock rate that the user chose, until the mock's answers have it. */
  speed: undefined as number | undefined,
  /** Result of the last action. What others do is not announced: screen readers would never be quiet. */
  said: '',
};

let draw = () => {};
function update(change: Partial<typeof state> = {}): void {
  Object.assign(state, change);
  draw();
}
export const say = (said: string) => update({ said });

const queryOf = (values: Record<string, string>) => `?${new URLSearchParams(values).toString()}`;

/** In memory only: a reload forgets it. */
let token: string | undefined;

/** @throws Error, with the status as its cause if the mock refuses */
async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
  };
  // The API is at `/__admin`, wherever a proxy has put it.
  const url = `${location.pathname.replace(/\/$/, '')}/${path}`;
  const response = await fetch(url, { ...init, headers, cache: 'no-store', credentials: 'omit' });
  if (response.ok) return response;
  const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error, { cause: response.status });
}

/**
 * Changes something in a world of the mock, or in all worlds (null), and announces the text that `said`
 * makes of the answer, or why the mock refuses. An event then tells all pages to load again.
 */
export function send(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body: unknown,
  said: (answer: unknown) => string,
  world: string | null = state.world,
): Promise<void> {
  return attempt(async () => {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const text = await (await request(world === null ? path : path + queryOf({ world }), init)).text();
    say(said(text === '' ? undefined : JSON.parse(text)));
  });
}

async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const { cause, message } = error as Error;
    if (cause === 401) askForToken(message);
    else say(cause === undefined ? 'The mock cannot be reached.' : message);
  }
}

let isStale = false;
let loading: Promise<void> | undefined;

/** Loads everything again. Calls during a load share the next one. */
export function refresh(): Promise<void> {
  isStale = true;
  loading ??= attempt(loadAll).finally(() => (loading = undefined));
  return loading;
}

async function loadAll(): Promise<void> {
  while (isStale) {
    isStale = false;
    const { world } = state;
    const startedAt = performance.now();
    const answers = await Promise.all(paths.map(async (path) => [path, await load(path)] as const));
    const receivedAt = performance.now();
    // The user may have opened another world meanwhile.
    const isShown = world === state.world;
    update(isShown ? { answers: Object.fromEntries(answers) as unknown as Answers, receivedAt } : {});
    await new Promise((resolve) => setTimeout(resolve, PACE_MS + receivedAt - startedAt));
  }
}

async function load(path: keyof Answers): Promise<unknown> {
  const lists: Readonly<Record<string, object>> = state.lists;
  const world = path === 'worlds' || path === 'magic-values' ? {} : { world: state.world };
  return (await request(path + queryOf({ ...world, ...lists[path] }))).json();
}

const passed = () => (performance.now() - state.receivedAt) * (state.answers?.clock.rate ?? 0);
/** What is left by now of the `ms` that an answer named. */
export const left = (ms: number) => ms - passed();
/** The mock's time in Unix ms. */
export const mockNow = () => (state.answers?.clock.now ?? 0) + passed();

/** Whether something that is shown has changed by itself, for which the mock sends no event. */
function isOver({ deposits, keys, limits, clock }: Answers): boolean {
  const waits = [
    ...deposits.deposits.map(({ dueInMs = 0 }) => dueInMs),
    ...keys.keys.map(({ state: now, expiresAt = 0 }) => (now === 'active' ? expiresAt - clock.now : 0)),
    ...limits.gauges.map(({ freesInMs }) => freesInMs),
  ];
  return waits.some((ms) => ms > 0 && left(ms) <= 0);
}

function tick(): void {
  const { answers } = state;
  if (answers === undefined || answers.clock.rate === 0) return;
  if (isOver(answers)) void refresh();
  update();
}

/** Shows another world. */
export async function openWorld(world: string): Promise<void> {
  history.replaceState(null, '', location.pathname + (world && queryOf({ world })));
  update({ world, said: `Showing the world ${world || 'main'}.` });
  await refresh();
}

function askForToken(message: string): void {
  const signInError = state.signInError === undefined ? '' : message;
  update({ signInError, connection: 'Waiting for the token' });
}

export function signIn(given: string): void {
  token = given;
  void watch();
}

/** Calls `render` whenever something changes, and follows the mock. */
export function start(render: () => void): void {
  draw = render;
  setInterval(tick, 250);
  void watch();
}

/** Follows the mock's events and reconnects. A hidden page does not: browsers allow few connections to one server. */
async function watch(): Promise<void> {
  for (;;) {
    while (document.hidden)
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
    const ending = new AbortController();
    document.addEventListener('visibilitychange', () => ending.abort(), { once: true });
    try {
      // `EventSource` cannot send a token.
      const { body } = await request('events', { signal: ending.signal });
      update({ signInError: undefined, connection: 'Live' });
      const reader = body!.getReader();
      do void refresh();
      while (!(await reader.read()).done);
    } catch (error) {
      const { cause, message } = error as Error;
      if (cause !== undefined) return askForToken(message);
    }
    update({ connection: 'Not connected, retrying' });
    if (!document.hidden) await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
