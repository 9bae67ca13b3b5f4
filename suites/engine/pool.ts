/** So many places for what is under way at once; who comes first is served first. */
export interface Slots {
  /** Waits for a place. */
  readonly take: () => Promise<void> | undefined;
  readonly free: () => void;
}

export function createSlots(count: number): Slots {
  let left = count;
  const waiting: (() => void)[] = [];
  return {
    take: () => {
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left--;
      return undefined;
    },
    free: () => {
      const next = waiting.shift();
      if (next === undefined) left++;
      else next();
    },
  };
}

/** Works once a place is free, and frees it again. */
export async function inSlot<Result>(slots: Slots, work: () => Promise<Result>): Promise<Result> {
  await slots.take();
  try {
    return await work();
  } finally {
    slots.free();
  }
}

/**
 * Works on the items in order, as many at once as there are slots. `work` returns whether to go on:
 * after a false no further item is begun, so that every item before the first false one has been
 * worked on.
 *
 * @param onBegun called when nothing is left to begin: who shares the slots may go ahead
 */
export async function inPool<Item>(
  items: readonly Item[],
  slots: Slots,
  work: (item: Item) => Promise<boolean>,
  onBegun: () => void = () => undefined,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  const errors: unknown[] = [];
  let goesOn = true;
  const begin = async (item: Item) => {
    try {
      if (!(await work(item))) goesOn = false;
    } catch (error) {
      goesOn = false;
      errors.push(error);
    } finally {
      slots.free();
    }
  };
  for (const item of items) {
    const place = slots.take();
    if (place !== undefined) await place;
    if (!goesOn) {
      slots.free();
      break;
    }
    underWay.push(begin(item));
  }
  onBegun();
  await Promise.all(underWay);
  if (errors.length > 0) throw errors[0];
}
