import { call } from './admin.ts';
import type { Answers, PartName } from './answers.ts';
import { addToJournal, model, MOST_REQUESTS, type ListName } from './model.ts';

/** Least time (ms) between two loads, whatever goes on in the mock. */
const PACE = 200;

const stale = new Set<PartName>();
let loading: Promise<void> | undefined;

/** Path of the admin API with the world that is shown. */
export function here(path: string, query: Readonly<Record<string, string>> = {}): string {
  return `${path}?${new URLSearchParams({ world: model.world, ...query }).toString()}`;
}

/**
 * Loads parts of what is shown again, and draws them. Wishes that come while it is at it wait together,
 * so that a busy mock is not asked for more than a page can show.
 */
export function refresh(
  names: readonly PartName[],
  draw: (names: readonly PartName[]) => void,
): Promise<void> {
  for (const name of names) stale.add(name);
  loading ??= loadAll(draw).finally(() => (loading = undefined));
  return loading;
}

async function loadAll(draw: (names: readonly PartName[]) => void): Promise<void> {
  while (stale.size > 0) {
    const names = [...stale];
    stale.clear();
    await Promise.all(names.map(load));
    draw(names);
    await new Promise((resolve) => setTimeout(resolve, PACE));
  }
}

async function load(name: PartName): Promise<void> {
  const { epoch } = model;
  const shown = name in model.lists ? model.lists[name as ListName] : undefined;
  const query = shown && { limit: `${shown.limit}`, contains: shown.contains };
  const path = here(name, name === 'requests' ? { limit: `${MOST_REQUESTS}` } : query);
  const answer = (await call('GET', path)) as Answers[PartName];
  // It is of another world, or of before a reset; what takes its place is asked for already.
  if (epoch !== model.epoch) return;
  model.answers = { ...model.answers, [name]: { ...answer, receivedAt: performance.now() } };
  if ('requests' in answer) addToJournal(answer.requests);
}
