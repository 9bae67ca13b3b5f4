/** Most lines that wait for whoever reads the log. */
const MOST_WAITING = 10_000;

/** A log that may be read slowly, or by nobody, and does not grow without an end. */
export interface LogLines {
  /** Writes a line, or leaves it out where too many wait. Never rejects. */
  readonly write: (line: () => string) => void;
  /** Whether nothing waits any more, in so many ms at most. */
  readonly emptied: (ms: number) => Promise<boolean>;
}

/**
 * @param print resolves when a text is out
 * @param gap the line that stands in the place of so many that were left out
 */
export function logLines(print: (text: string) => Promise<void>, gap: (count: number) => string): LogLines {
  let waiting = 0;
  let leftOut = 0;
  let wake = () => {};
  const send = async (text: string) => {
    waiting += 1;
    try {
      await print(text);
    } catch {
      // The mock serves on when nobody reads its log any more.
    }
    waiting -= 1;
    if (waiting === 0) wake();
  };
  return {
    write: (line) => {
      if (waiting >= MOST_WAITING) {
        leftOut += 1;
        return;
      }
      if (leftOut > 0) void send(gap(leftOut));
      leftOut = 0;
      void send(line());
    },
    emptied: (ms) =>
      new Promise((resolve) => {
        if (waiting === 0) return resolve(true);
        const timer = setTimeout(() => resolve(false), ms);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      }),
  };
}
