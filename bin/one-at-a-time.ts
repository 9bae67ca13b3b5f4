/**
 * Runs an act each time it is asked to, but never twice at once: what is asked for while it runs is one
 * more run behind it. So what began last also ends last.
 *
 * @param act is told whether another run is to follow, so that its own result is out of date; never rejects
 */
export function oneAtATime(act: (isOutOfDate: () => boolean) => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let isAsked = false;
  return async () => {
    isAsked = true;
    if (isRunning) return;
    isRunning = true;
    while (isAsked) {
      isAsked = false;
      await act(() => isAsked);
    }
    isRunning = false;
  };
}
