/**
 * Works on the items in order, so many at once. `work` returns whether to go on: after a false no
 * further item is begun, so that every item before the first false one has been worked on.
 */
export async function inPool<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<boolean>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++]!;
      if (!(await work(item))) next = items.length;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
