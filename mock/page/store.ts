import type { mockOperations, worldOperations } from '../controls.ts';
import type { ResultsOf } from '../controls/operation.ts';

/** Results of the admin API by call. */
type Results = ResultsOf<typeof worldOperations> & ResultsOf<typeof mockOperations>;
type Call = keyof Results;

/** The calls that the page shows, and the list that each of them pages. */
const shown = {
  'GET /clock': undefined,
  'GET /deposits': 'deposits',
  'GET /keys': 'keys',
  'GET /users': 'users',
  'GET /limits': undefined,
  'GET /requests': 'requests',
  'GET /faults': undefined,
  'GET /worlds': undefined,
  'GET /magic-values': undefined,
} as const satisfies Partial<Record<Call, string | undefined>>;
/** Their answers. */
export type Answers = { readonly [Name in keyof typeof shown]: Results[Name] };

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
async function request(call: string, query: Record<string, string>, init: RequestInit = {}) {
  const [method, path] = call.split(' /') as [string, string];
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
  };
  // Relative to the page, because a proxy may add a path prefix.
  const url = `${location.pathname.replace(/\/$/, '')}/${path}${queryOf(query)}`;
  const response = await fetch(url, { ...init, method, headers, cache: 'no-store', credentials: 'omit' });
  if (response.ok) return response;
  const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error, { cause: response.status });
}

/**
 * Makes a call in a world, or in all worlds (null), and announces the text that `said` returns for the result,
 * or the error. The mock then sends an event, and all pages reload.
 *
 * @param id replaces `{id}` in the path
 */
export function send<Name extends Call>(
  call: Name,
  body: unknown,
  said: (result: Results[Name]) => string,
  { world = state.world, id = '' }: { readonly world?: string | null; readonly id?: string } = {},
): Promise<void> {
  return attempt(async () => {
    const query = world === null ? {} : { world };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await request(call.replace('{id}', id), query, init);
    announce(said((await response.json()) as Results[Name]));
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
    const answers = await Promise.all(Object.entries(shown).map(load));
    const receivedAt = performance.now();
    // The user may have opened another world meanwhile.
    const isShown = world === state.world;
    update(isShown ? { answers: Object.fromEntries(answers) as unknown as Answers, receivedAt } : {});
    await new Promise((resolve) => setTimeout(resolve, MIN_LOAD_INTERVAL_MS + receivedAt - startedAt));
  }
}

async function load([call, list]: readonly [string, keyof typeof state.lists | undefined]) {
  const world = call === 'GET /worlds' || call === 'GET /magic-values' ? {} : { world: state.world };
  const page = list === undefined ? {} : { ...state.lists[list], limit: `${state.lists[list].limit}` };
  return [call, await (await request(call, { ...world, ...page })).json()] as const;
}

const clock = () => state.answers?.['GET /clock'] ?? { now: 0, rate: 0 };
const elapsedMs = () => (performance.now() - state.receivedAt) * clock().rate;
/** Returns how much of the `ms` of an answer remains now. */
export const remainingMs = (ms: number) => ms - elapsedMs();
/** Returns the mock's time in Unix ms. */
export const mockNow = () => clock().now + elapsedMs();

/** Whether time alone changed shown data: the mock sends no event for that. */
function hasTimedChange(answers: Answers): boolean {
  const { now } = clock();
  const waits = [
    ...answers['GET /deposits'].deposits.map(({ dueInMs = 0 }) => dueInMs),
    ...answers['GET /keys'].keys.map((key) => (key.state === 'active' ? (key.expiresAt ?? 0) - now : 0)),
    ...answers['GET /limits'].gauges.map(({ freesInMs }) => freesInMs),
  ];
  return waits.some((ms) => ms > 0 && remainingMs(ms) <= 0);
}

function tick(): void {
  const { answers } = state;
  if (answers === undefined || clock().rate === 0) return;
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
      const { body } = await request('GET /events', {}, { signal: ending.signal });
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
