import type { operations } from '../control/operations.ts';

type Result<Name extends keyof typeof operations> = ReturnType<(typeof operations)[Name]['run']>;
/** What the page shows. */
export type Answers = Result<'data'> &
  Result<'requests'> &
  Pick<Result<'fault'>, 'faults'> & { clock: Result<'clock'> };

const POLL_INTERVAL_MS = 1000;

/** The state of the page. */
export const state = {
  /** Name of the shown world; empty for the main world. */
  world: (new URLSearchParams(location.search).get('world') ?? '').replace(/^main$/, ''),
  /** Filter and length of the lists of data. */
  contains: '',
  limit: 10,
  answers: undefined as Answers | undefined,
  connection: 'Connecting',
  /** Result of the last action of this user. Changes by others are not announced by screen readers. */
  announcement: '',
  /** Only in memory: a reload removes it. */
  token: '',
  /** Why the mock needs a token or refused one; undefined if it needs none. */
  refusal: undefined as string | undefined,
};

/** @throws Error, with the status as its cause if the mock refuses */
async function request<Answer>(call: string, body?: unknown): Promise<Answer> {
  const [method = '', path = ''] = call.split(' /');
  const headers = {
    ...(state.token !== '' && { Authorization: `Bearer ${state.token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const init = { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
  // Relative to the page, because a proxy may add a path prefix.
  const response = await fetch(`${location.pathname.replace(/\/$/, '')}/${path}`, init).catch(
    () => undefined,
  );
  if (response === undefined) throw new Error('Not connected, retrying');
  const result: unknown = await response.json().catch(() => ({}));
  if (response.ok) return result as Answer;
  const { error = response.statusText } = result as { error?: string };
  throw new Error(error, { cause: response.status });
}

const inWorld = () => `?world=${encodeURIComponent(state.world)}`;

async function load(): Promise<Answers> {
  const filter = `&contains=${encodeURIComponent(state.contains)}&limit=${state.limit}`;
  const [clock, data, requests, { faults }] = await Promise.all([
    request<Result<'clock'>>(`GET /clock${inWorld()}`),
    request<Result<'data'>>(`GET /data${inWorld()}${filter}`),
    request<Result<'requests'>>(`GET /requests${inWorld()}&limit=100`),
    // The list of all faults never changes.
    state.answers ?? request<Result<'fault'>>('GET /fault'),
  ]);
  return { clock, ...data, ...requests, faults };
}

const problem = ({ cause, message }: Error, where: 'connection' | 'announcement') =>
  cause === 401
    ? { connection: 'Waiting for the token', refusal: state.token && message }
    : { [where]: message };

let draw = () => {};
let latest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Changes the state, and loads all from the mock: now, and then each second while the page is visible. */
export async function update(change: Partial<typeof state> = {}): Promise<void> {
  Object.assign(state, change);
  draw();
  clearTimeout(timer);
  const turn = ++latest;
  const loaded = await load().then(
    (answers) => ({ answers, connection: 'Live', refusal: undefined }),
    (error: Error) => problem(error, 'connection'),
  );
  // A later call loads newer answers, perhaps of another world.
  if (turn !== latest) return;
  Object.assign(state, loaded);
  draw();
  if (state.refusal === undefined && !document.hidden)
    timer = setTimeout(() => void update(), POLL_INTERVAL_MS);
}

/** Makes a call, and announces its label or why it failed. Returns whether the mock did it. */
export async function send(label: string, call: string, body?: unknown, query = inWorld()): Promise<boolean> {
  const failure = await request(call + query, body).then(
    () => undefined,
    (error: Error) => problem(error, 'announcement'),
  );
  void update(failure ?? { announcement: `${label}: done.` });
  return failure === undefined;
}

/** Shows another world. */
export function openWorld(world: string): void {
  history.replaceState(null, '', `?world=${encodeURIComponent(world)}`);
  void update({ world, announcement: `Showing the world ${world || 'main'}.` });
}

/** Calls `render` after each change. */
export function start(render: () => void): void {
  draw = render;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (!document.hidden && state.refusal === undefined) void update();
  });
  void update();
}
