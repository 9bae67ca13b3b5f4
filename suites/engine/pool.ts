/**
 * Works on the items in order, so many at once. `work` returns whether to go on: after a false no further item is
 * begun, so that every item before the first false one has been worked on.
 */
export async function inPool<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<boolean>,
): Promise<void> {
  const errors: unknown[] = [];
  const queue = items.values();
  let goesOn = true;
  const worker = async () => {
    for (let next = queue.next(); goesOn && next.done !== true; next = queue.next()) {
      try {
        if (!(await work(next.value))) goesOn = false;
      } catch (error) {
        goesOn = false;
        errors.push(error);
      }
      if (!goesOn) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
}
