import { SLACK, type Sighting } from './history.ts';

/** How a limiter may lay its windows. */
export type Windows =
  /** From the first counted request on, and anew with the first one after its end. */
  | 'fixed'
  /** One after another, whatever comes. */
  | 'aligned'
  /** Over the last so many ms at any time. */
  | 'sliding';

/** Thresholds from the least to the most, both included, that would explain a history. */
export interface Thresholds {
  readonly windows: Windows;
  readonly least: number;
  readonly most: number;
}

/** Some time between `from` and `to`, in ms. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Thresholds that explain a history, by the way in which windows of that length may lie.
 *
 * Where instants can be placed in more ways than one, the most generous is taken, each time anew: a
 * threshold that is not named explains the history in no way at all; one that is named may do so.
 * A limiter that holds on for longer than its window is not held against a threshold: only the first
 * 429 of a row has to be explained, by what had passed.
 */
export function thresholds(history: readonly Sighting[], windowMs: number): readonly Thresholds[] {
  const passes = history.filter(({ passed }) => passed).toSorted((a, b) => a.sentAt - b.sentAt);
  const refusals = firstRefusals(history, windowMs);
  return [
    { windows: 'fixed' as const, ...inFixedWindows(passes, refusals, windowMs) },
    { windows: 'sliding' as const, ...inSlidingWindow(passes, refusals, windowMs) },
    ...offsets(history, windowMs).map((offset) => ({
      windows: 'aligned' as const,
      ...inAlignedWindows(passes, refusals, windowMs, offset),
    })),
  ].filter(({ least, most }) => least <= most);
}

/** When the first 429 of each row came: rows are parted by more than a window without one. */
function firstRefusals(history: readonly Sighting[], windowMs: number): readonly Span[] {
  const refused = history.filter(({ passed }) => !passed).toSorted((a, b) => a.sentAt - b.sentAt);
  const rows: Sighting[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const sighting of refused) {
    if (sighting.sentAt > last + windowMs) rows.push([]);
    rows.at(-1)!.push(sighting);
    last = Math.max(last, sighting.receivedAt);
  }
  return rows.map((row) => {
    const soonest = Math.min(...row.map(({ receivedAt }) => receivedAt));
    const first = row.filter(({ sentAt }) => sentAt <= soonest);
    return { from: first[0]!.sentAt, to: Math.max(...first.map(({ receivedAt }) => receivedAt)) };
  });
}

/** Passes that may have met the server within a span, and before a refusal was over. */
const possible = (passes: readonly Sighting[], { from, to }: Span, refusal: Span) =>
  passes.filter(
    ({ sentAt, receivedAt }) =>
      receivedAt >= from - SLACK && sentAt <= to + SLACK && sentAt <= refusal.to + SLACK,
  ).length;

/** The least that any of the first refusals had before it, at most. */
const atMost = (refusals: readonly Span[], before: (refusal: Span) => number) =>
  Math.min(Number.POSITIVE_INFINITY, ...refusals.map(before));

function inFixedWindows(passes: readonly Sighting[], refusals: readonly Span[], windowMs: number) {
  const windows: Span[] = [];
  let least = 0;
  // When the window before ended.
  let ended: Span = { from: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  for (;;) {
    const before = ended;
    const candidates = passes.filter(({ receivedAt }) => receivedAt >= before.from - SLACK);
    if (candidates.length === 0) break;
    const later = candidates.filter(({ sentAt }) => sentAt > before.to + SLACK);
    const from = Math.max(before.from, candidates[0]!.sentAt);
    if (later.length === 0) {
      // It may have begun with one of those that met the end of the window before.
      windows.push({ from, to: Math.max(...candidates.map(({ receivedAt }) => receivedAt)) + windowMs });
      break;
    }
    const opens = { from, to: Math.min(...later.map(({ receivedAt }) => receivedAt)) };
    ended = { from: opens.from + windowMs, to: opens.to + windowMs };
    const end = ended.from;
    least = Math.max(least, later.filter(({ receivedAt }) => receivedAt < end - SLACK).length);
    windows.push({ from: opens.from, to: ended.to });
  }
  const most = atMost(refusals, (refusal) =>
    Math.max(
      0,
      ...windows
        .filter(({ from, to }) => from <= refusal.to && to >= refusal.from)
        .map((window) => possible(passes, window, refusal)),
    ),
  );
  return { least, most };
}

function inSlidingWindow(passes: readonly Sighting[], refusals: readonly Span[], windowMs: number) {
  let least = 0;
  passes.forEach(({ sentAt: from }, at) => {
    let certain = 0;
    for (let next = at; next < passes.length && passes[next]!.sentAt < from + windowMs; next++)
      if (passes[next]!.receivedAt < from + windowMs - SLACK) certain++;
    least = Math.max(least, certain);
  });
  const most = atMost(refusals, (refusal) =>
    possible(passes, { from: refusal.from - windowMs, to: refusal.to }, refusal),
  );
  return { least, most };
}

function inAlignedWindows(
  passes: readonly Sighting[],
  refusals: readonly Span[],
  windowMs: number,
  offset: number,
) {
  const windowAt = (instant: number) => Math.floor((instant - offset) / windowMs);
  const certain = new Map<number, number>();
  for (const { sentAt, receivedAt } of passes) {
    const window = windowAt(sentAt - SLACK);
    if (windowAt(receivedAt + SLACK) === window) certain.set(window, (certain.get(window) ?? 0) + 1);
  }
  const most = atMost(refusals, (refusal) => {
    let before = 0;
    for (let window = windowAt(refusal.from - SLACK); window <= windowAt(refusal.to + SLACK); window++) {
      const from = offset + window * windowMs;
      before = Math.max(before, possible(passes, { from, to: from + windowMs }, refusal));
    }
    return before;
  });
  return { least: Math.max(0, ...certain.values()), most };
}

/**
 * Where aligned windows may begin, as far as it makes a difference: just at the edges of what was
 * seen, to the ms, and between two of them.
 */
function offsets(history: readonly Sighting[], windowMs: number): readonly number[] {
  const start = Math.min(...history.map(({ sentAt }) => sentAt));
  const edges = new Set(
    history
      .flatMap(({ sentAt, receivedAt }) => [
        sentAt - SLACK,
        sentAt + SLACK,
        receivedAt - SLACK,
        receivedAt + SLACK,
      ])
      .map((edge) => Math.round(edge - start + windowMs) % Math.round(windowMs)),
  );
  const ascending = [...edges].toSorted((a, b) => a - b);
  const between = ascending.map((edge, at) => {
    const next = ascending[at + 1] ?? ascending[0]! + windowMs;
    return ((edge + next) / 2) % windowMs;
  });
  return [...ascending, ...between].map((edge) => start + edge);
}
