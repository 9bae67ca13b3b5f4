/** Whether a counted request passes at an instant; remembers it if so. */
export type Limiter = (instant: number) => boolean;

/** Limiters as servers have them, written without a look at the judge. */
export const limiters: Readonly<Record<string, (most: number, windowMs: number, phase: number) => Limiter>> =
  {
    fixed: (most, windowMs) => {
      let start = Number.NEGATIVE_INFINITY;
      let count = 0;
      return (instant) => {
        if (instant >= start + windowMs) [start, count] = [instant, 0];
        if (count >= most) return false;
        count++;
        return true;
      };
    },
    aligned: (most, windowMs, phase) => {
      let window = Number.NaN;
      let count = 0;
      return (instant) => {
        const at = Math.floor((instant - phase) / windowMs);
        if (at !== window) [window, count] = [at, 0];
        if (count >= most) return false;
        count++;
        return true;
      };
    },
    sliding: (most, windowMs) => {
      let hits: number[] = [];
      return (instant) => {
        hits = hits.filter((hit) => hit > instant - windowMs);
        if (hits.length >= most) return false;
        hits.push(instant);
        return true;
      };
    },
    'sliding, refusals counted': (most, windowMs) => {
      let hits: number[] = [];
      return (instant) => {
        hits = hits.filter((hit) => hit > instant - windowMs);
        hits.push(instant);
        return hits.length <= most;
      };
    },
    'locked until a window without a try': (most, windowMs) => {
      let hits: number[] = [];
      let locked = Number.NEGATIVE_INFINITY;
      return (instant) => {
        const isLocked = instant < locked + windowMs;
        if (!isLocked) hits = hits.filter((hit) => hit > instant - windowMs);
        if (isLocked || hits.length >= most) {
          if (!isLocked) hits = [];
          locked = instant;
          return false;
        }
        hits.push(instant);
        return true;
      };
    },
  };

/** A bucket that holds so many and refills evenly, so many a ms; full to begin with. */
export const refilled = (holds: number, perMs: number): Limiter => {
  let level = holds;
  let last = 0;
  return (instant) => {
    level = Math.min(holds, level + (instant - last) * perMs);
    last = instant;
    if (level < 1) return false;
    level--;
    return true;
  };
};

/** A bucket that gets back a part of what it holds, as many times a window. */
export const refilledInParts = (holds: number, windowMs: number, times: number, phase: number): Limiter => {
  const parts = Math.min(times, holds);
  let level = holds;
  let last = Number.NEGATIVE_INFINITY;
  return (instant) => {
    const interval = Math.floor(((instant - phase) * parts) / windowMs);
    level = Math.min(holds, level + (interval - last) * Math.floor(holds / parts));
    last = interval;
    if (level < 1) return false;
    level--;
    return true;
  };
};

/** A bucket that is filled up at intervals. */
export const filledUp = (holds: number, intervalMs: number, phase: number): Limiter => {
  let level = holds;
  let last = Number.NEGATIVE_INFINITY;
  return (instant) => {
    const interval = Math.floor((instant - phase) / intervalMs);
    if (interval > last) [level, last] = [holds, interval];
    if (level < 1) return false;
    level--;
    return true;
  };
};

/** Refuses everything for so many ms after it refused once. */
export const banning = (limiter: Limiter, banMs: number): Limiter => {
  let bannedUntil = Number.NEGATIVE_INFINITY;
  return (instant) => {
    if (instant < bannedUntil) return false;
    if (limiter(instant)) return true;
    bannedUntil = instant + banMs;
    return false;
  };
};

/** A fixed window that counts a request so many ms after it has let it in. */
export const countingLater = (most: number, windowMs: number, laterMs: number): Limiter => {
  let counted: number[] = [];
  let start = Number.NEGATIVE_INFINITY;
  return (instant) => {
    if (instant >= start + windowMs) [start, counted] = [instant, []];
    if (counted.filter((at) => at <= instant).length >= most) return false;
    counted.push(instant + laterMs);
    return true;
  };
};

/** Windows one after another; of the one before, the part that is less than a window ago counts as well. */
export const weighted = (most: number, windowMs: number, phase: number): Limiter => {
  const counts = new Map<number, number>();
  return (instant) => {
    const at = Math.floor((instant - phase) / windowMs);
    const into = (instant - phase) / windowMs - at;
    const count = counts.get(at) ?? 0;
    if ((counts.get(at - 1) ?? 0) * (1 - into) + count + 1 > most) return false;
    counts.set(at, count + 1);
    return true;
  };
};

/** Numbers from 0 to 1, always the same ones for a seed: cheaper by far than to draw each (mulberry32). */
export function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
