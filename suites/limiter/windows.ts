import { SLACK, type Rule, type Sighting } from './history.ts';

/** How a limiter may lay its windows. */
export type Windows =
  /** From the first counted request on, and anew with the first one after its end. */
  | 'fixed'
  /** One after another, whatever comes. */
  | 'aligned'
  /** Over the last so many ms at any time. */
  | 'sliding'
  /** As that, and what is refused counts as well. */
  | 'sliding, with refusals';

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
 *
 * @param history counted requests, after so long without any that no window remembers one
 */
export function thresholds(history: readonly Sighting[], windowMs: number): readonly Thresholds[] {
  const passes = history.filter(({ passed }) => passed).toSorted((a, b) => a.sentAt - b.sentAt);
  const refusals = firstRefusals(history, windowMs);
  return [
    { windows: 'fixed' as const, ...inFixedWindows(passes, refusals, windowMs) },
    { windows: 'sliding' as const, ...inSlidingWindow(passes, refusals, windowMs) },
    { windows: 'sliding, with refusals' as const, ...withRefusals(history, passes, refusals, windowMs) },
    ...offsets(passes, refusals, windowMs).map(({ offset }) => ({
      windows: 'aligned' as const,
      ...inAlignedWindows(passes, refusals, windowMs, offset),
    })),
  ].filter(({ least, most }) => least <= most);
}

/**
 * Whether aligned windows may explain a history if of the window before there still counts the part
 * that is less than a window ago, as the sliding window counter has it.
 */
export function mayBeWeighted(history: readonly Sighting[], { most, windowMs }: Rule): boolean {
  const passes = history.filter(({ passed }) => passed).toSorted((a, b) => a.sentAt - b.sentAt);
  const refusals = firstRefusals(history, windowMs);
  return offsets(passes, refusals, windowMs).some(({ offset, reach }) => {
    const span = inWeightedWindows(passes, refusals, windowMs, offset, reach);
    return span.least <= most && most <= span.most;
  });
}

/** When the first 429 of each row came: rows are parted by a request that passed, or by more than a window without a 429. */
function firstRefusals(history: readonly Sighting[], windowMs: number): readonly Span[] {
  const refused = history.filter(({ passed }) => !passed).toSorted((a, b) => a.sentAt - b.sentAt);
  const rows: Sighting[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  const isLetInBefore = ({ sentAt }: Sighting) =>
    history.some((other) => other.passed && other.sentAt >= last && other.receivedAt <= sentAt);
  for (const sighting of refused) {
    if (sighting.sentAt > last + windowMs || isLetInBefore(sighting)) rows.push([]);
    rows.at(-1)!.push(sighting);
    last = Math.max(last, sighting.receivedAt);
  }
  return rows.map((row) => {
    const soonest = Math.min(...row.map(({ receivedAt }) => receivedAt));
    const first = row.filter(({ sentAt }) => sentAt <= soonest);
    return { from: first[0]!.sentAt, to: Math.max(...first.map(({ receivedAt }) => receivedAt)) };
  });
}

/** How many passes, in the order of their sending, may have met the server within a span, and before a refusal was over. */
function possible(passes: readonly Sighting[], { from, to }: Span, refusal: Span): number {
  const earliest = from - SLACK;
  const latest = Math.min(to, refusal.to) + SLACK;
  let count = 0;
  for (const { sentAt, receivedAt } of passes) {
    if (sentAt > latest) break;
    if (receivedAt >= earliest) count++;
  }
  return count;
}

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

function withRefusals(
  history: readonly Sighting[],
  passes: readonly Sighting[],
  refusals: readonly Span[],
  windowMs: number,
) {
  const hitsBefore = ({ sentAt, receivedAt }: Sighting) =>
    history.filter((hit) => hit.receivedAt < sentAt - SLACK && hit.sentAt > receivedAt - windowMs + SLACK)
      .length;
  const least = Math.max(
    inSlidingWindow(passes, [], windowMs).least,
    ...passes.map((pass) => hitsBefore(pass) + 1),
  );
  const refused = history.filter(({ passed }) => !passed);
  const most = atMost(refusals, (refusal) => {
    const span = { from: refusal.from - windowMs, to: refusal.to };
    // Nothing was refused before the first one.
    const earlier = refusal === refusals[0] ? [] : refused.filter(({ sentAt }) => sentAt < refusal.from);
    return possible(passes, span, refusal) + possible(earlier, span, refusal);
  });
  return { least, most };
}

function inAlignedWindows(
  passes: readonly Sighting[],
  refusals: readonly Span[],
  windowMs: number,
  offset: number,
) {
  let least = 0;
  let certain = 0;
  let current = Number.NaN;
  for (const { sentAt, receivedAt } of passes) {
    const window = Math.floor((sentAt - SLACK - offset) / windowMs);
    if (Math.floor((receivedAt + SLACK - offset) / windowMs) !== window) continue;
    certain = window === current ? certain + 1 : 1;
    current = window;
    least = Math.max(least, certain);
  }
  let most = Number.POSITIVE_INFINITY;
  for (const refusal of refusals) {
    let before = 0;
    const last = offset + Math.floor((refusal.to + SLACK - offset) / windowMs) * windowMs;
    let from = offset + Math.floor((refusal.from - SLACK - offset) / windowMs) * windowMs;
    for (; from <= last; from += windowMs)
      before = Math.max(before, possible(passes, { from, to: from + windowMs }, refusal));
    most = Math.min(most, before);
    // Nothing explains what more than that is certain of.
    if (most < least) break;
  }
  return { least, most };
}

/** Windows that begin at most `reach` after the offset: of the window before, what passed counts in part. */
function inWeightedWindows(
  passes: readonly Sighting[],
  refusals: readonly Span[],
  windowMs: number,
  offset: number,
  reach: number,
) {
  const { least } = inAlignedWindows(passes, refusals, windowMs, offset);
  const most = atMost(refusals, (refusal) => {
    const first = Math.floor((refusal.from - SLACK - offset) / windowMs);
    const last = Math.floor((refusal.to + SLACK - offset) / windowMs);
    let before = 0;
    for (let window = first; window <= last; window++) {
      const from = offset + window * windowMs;
      const into = Math.max(0, refusal.from - SLACK - from - reach);
      const inWindow = possible(passes, { from, to: from + windowMs }, refusal);
      const inBoth = possible(passes, { from: from - windowMs, to: from + windowMs }, refusal);
      before = Math.max(before, inWindow + Math.ceil((inBoth - inWindow) * Math.max(0, 1 - into / windowMs)));
    }
    return before;
  });
  return { least, most };
}

/**
 * Where aligned windows may begin, as far as it makes a difference: just at the edges of what was
 * seen, to the ms, and between two of them; and how far it is to the next edge, in ms.
 */
function offsets(
  passes: readonly Sighting[],
  refusals: readonly Span[],
  windowMs: number,
): readonly { readonly offset: number; readonly reach: number }[] {
  const spans = [...passes.map(({ sentAt, receivedAt }) => ({ from: sentAt, to: receivedAt })), ...refusals];
  const start = Math.min(...spans.map(({ from }) => from));
  const edges = new Set<number>();
  for (const { from, to } of spans)
    for (const edge of [from - SLACK, from + SLACK, to - SLACK, to + SLACK])
      edges.add(Math.round(edge - start + windowMs) % Math.round(windowMs));
  const ascending = [...edges].toSorted((a, b) => a - b);
  return ascending.flatMap((edge, at) => {
    const next = ascending[at + 1] ?? ascending[0]! + windowMs;
    const offset = start + edge;
    const reach = (next - edge) / 2;
    return [
      { offset, reach },
      { offset: offset + reach, reach },
    ];
  });
}
