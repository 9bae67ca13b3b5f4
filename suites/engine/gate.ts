/** Lets work run concurrently, except work that must be alone: it waits for the rest, and the rest for it. */
export function createGate() {
  const waiting: (() => void)[] = [];
  const state = { inside: 0, isClosed: false };
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    pass: async <Result>(isAlone: boolean, work: () => Promise<Result>): Promise<Result> => {
      while (state.isClosed) await change();
      state.isClosed = isAlone;
      if (isAlone) while (state.inside > 0) await change();
      state.inside++;
      try {
        return await work();
      } finally {
        state.inside--;
        state.isClosed &&= !isAlone;
        for (const wake of waiting.splice(0)) wake();
      }
    },
  };
}
