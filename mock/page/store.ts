import type { ShownFaults } from '../controls.ts';
import type { ShownKey, ShownLimits } from '../controls/data.ts';
import type { JournalEntry } from '../journal.ts';
import type { MagicValue } from '../magic-values.ts';
import type { Scorecard } from '../scorecard.ts';
import type { DepositNow, User } from '../world.ts';

/** A page of a list, and its total number of items. */
export type Listed<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & {
  readonly meta: { readonly total: number };
};
/** Answers of the admin API by path. */
export interface Answers {
  readonly clock: { readonly now: number; readonly rate: number };
  readonly deposits: Listed<'deposits', DepositNow>;
  readonly keys: Listed<'keys', ShownKey>;
  readonly users: Listed<'users', User>;
  readonly limits: ShownLimits;
  readonly faults: ShownFaults;
  readonly scorecard: Scorecard;
  readonly requests: { readonly requests: readonly JournalEntry[] };
  readonly worlds: { readonly worlds: readonly string[] };
  /** `port` is the service's, if the admin API has its own port. */
  readonly 'magic-values': { readonly port?: number; readonly values: readonly MagicValue[] };
}
const names = 'clock deposits keys users limits requests faults scorecard worlds magic-values';
const paths = names.split(' ') as (keyof Answers)[];
/** Limits how often the page loads from a busy mock. */
const MIN_LOAD_INTERVAL_MS = 200;

/** The state of the page. */
export const state = {
  connection: 'Connecting',
  /** Why the mock needs a token or refused one; undefined if it needs none. */
  signInError: undefined as string | undefined,
  /** Name of the shown world; empty for the main world. */
  world: new URLSearchParams(location.search).get('world') ?? '',
  answers: undefined as Answers | undefined,
  /** Time of the answers, in ms of `performance.now()`. */
  receivedAt: 0,
  lists: {
    deposits: { limit: 25, contains: '' },
    keys: { limit: 25, contains: '' },
    users: { limit: 25, contains: '' },
    requests: { limit: 100 },
  },
  /** Clock rate that the user chose, until the next answers include it. */
  speed: undefined as number | undefined,
  /** Result of the last action of this user. Changes by others are not announced by screen readers. */
  announcement: '',
};

let draw = () => {};
function update(change: Partial<typeof state> = {}): void {
  Object.assign(state, change);
  draw();
}
export const announce = (announcement: string) => update({ announcement });

const queryOf = (values: Record<string, string>) => `?${new URLSearchParams(values).toString()}`;

/** Only in memory: a reload removes it. */
let token: string | undefined;

/** @throws Error, with the status as its cause if the mock refuses */
async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
  };
  // Relative to the page, because a proxy may add a path prefix.
  const url = `${location.pathname.replace(/\/$/, '')}/${path}`;
  const response = await fetch(url, { ...init, headers, cache: 'no-store', credentials: 'omit' });
  if (response.ok) return response;
  const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error, { cause: response.status });
}

/**
 * Makes a call in a world, or in all worlds (null), and announces the text that `said` returns for the answer,
 * or the error. The mock then sends an event, and all pages reload.
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
    announce(said(text === '' ? undefined : JSON.parse(text)));
  });
}

async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const { cause, message } = error as Error;
    if (cause === 401) askForToken(message);
    else announce(cause === undefined ? 'The mock cannot be reached.' : message);
  }
}

let isStale = false;
let loading: Promise<void> | undefined;

/** Reloads all data. Calls during a load share the next one. */
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
    await new Promise((resolve) => setTimeout(resolve, MIN_LOAD_INTERVAL_MS + receivedAt - startedAt));
  }
}

async function load(path: keyof Answers): Promise<unknown> {
  const lists: Readonly<Record<string, object>> = state.lists;
  const world = path === 'worlds' || path === 'magic-values' ? {} : { world: state.world };
  return (await request(path + queryOf({ ...world, ...lists[path] }))).json();
}

const elapsedMs = () => (performance.now() - state.receivedAt) * (state.answers?.clock.rate ?? 0);
/** Returns how much of the `ms` of an answer remains now. */
export const remainingMs = (ms: number) => ms - elapsedMs();
/** Returns the mock's time in Unix ms. */
export const mockNow = () => (state.answers?.clock.now ?? 0) + elapsedMs();

/** Whether time alone changed shown data: the mock sends no event for that. */
function hasTimedChange({ deposits, keys, limits, clock }: Answers): boolean {
  const waits = [
    ...deposits.deposits.map(({ dueInMs = 0 }) => dueInMs),
    ...keys.keys.map(({ state: now, expiresAt = 0 }) => (now === 'active' ? expiresAt - clock.now : 0)),
    ...limits.gauges.map(({ freesInMs }) => freesInMs),
  ];
  return waits.some((ms) => ms > 0 && remainingMs(ms) <= 0);
}

function tick(): void {
  const { answers } = state;
  if (answers === undefined || answers.clock.rate === 0) return;
  if (hasTimedChange(answers)) void refresh();
  update();
}

/** Shows another world. */
export async function openWorld(world: string): Promise<void> {
  history.replaceState(null, '', location.pathname + (world && queryOf({ world })));
  update({ world, announcement: `Showing the world ${world || 'main'}.` });
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

/** Calls `render` after each change, and connects to the mock. */
export function start(render: () => void): void {
  draw = render;
  setInterval(tick, 250);
  void watch();
}

/** Reads the mock's events and reconnects. A hidden page disconnects: browsers limit connections to a server. */
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
