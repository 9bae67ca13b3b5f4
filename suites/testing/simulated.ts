/** Whether a request passes at an instant. Counts it if so. */
export type Limiter = (instant: number) => boolean;

/** Common limiters, written independently of the judge. */
export const limiters: Readonly<Record<string, (most: number, windowMs: number, phase: number) => Limiter>> =
  {
    fixed: (most, windowMs) => lateCounting(most, windowMs, 0),
    aligned: (most, windowMs, phase) => steppedBucket(most, windowMs, 1, phase),
    sliding: (most, windowMs) => sliding(most, windowMs, false),
    'sliding, refusals counted': (most, windowMs) => sliding(most, windowMs, true),
    'locked until a window without a try': (most, windowMs) => {
      let limiter = sliding(most, windowMs, false);
      let locked = Number.NEGATIVE_INFINITY;
      return (instant) => {
        if (instant >= locked + windowMs && limiter(instant)) return true;
        locked = instant;
        limiter = sliding(most, windowMs, false);
        return false;
      };
    },
  };

function sliding(most: number, windowMs: number, areRefusalsCounted: boolean): Limiter {
  let hits: number[] = [];
  return (instant) => {
    hits = hits.filter((hit) => hit > instant - windowMs);
    const passes = hits.length < most;
    if (passes || areRefusalsCounted) hits.push(instant);
    return passes;
  };
}

/** A token bucket with even refill, full at the start. */
export const tokenBucket = (holds: number, perMs: number): Limiter => {
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

/** A token bucket that is refilled in equal parts, `times` per window. */
export const steppedBucket = (holds: number, windowMs: number, times: number, phase: number): Limiter => {
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

/** Refuses everything for `banMs` after each refusal of another limiter. */
export const withBan = (limiter: Limiter, banMs: number): Limiter => {
  let bannedUntil = Number.NEGATIVE_INFINITY;
  return (instant) => {
    if (instant < bannedUntil) return false;
    if (limiter(instant)) return true;
    bannedUntil = instant + banMs;
    return false;
  };
};

/** A fixed window that counts each request `laterMs` after it passed. */
export const lateCounting = (most: number, windowMs: number, laterMs: number): Limiter => {
  let counted: number[] = [];
  let start = Number.NEGATIVE_INFINITY;
  return (instant) => {
    if (instant >= start + windowMs) [start, counted] = [instant, []];
    if (counted.filter((at) => at <= instant).length >= most) return false;
    counted.push(instant + laterMs);
    return true;
  };
};

/** A weighted window: counts the part of the previous window that is less than a window ago. */
export const weightedWindow = (most: number, windowMs: number, phase: number): Limiter => {
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
