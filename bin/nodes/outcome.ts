/** What came of a run on a version of Node. */
export interface Outcome {
  readonly version: string;
  readonly run: string;
  /** Or the signal that ended it. */
  readonly exitCode: number | NodeJS.Signals | null;
  /** How many tests there were; undefined where the runner did not come so far as to say. */
  readonly tests: number | undefined;
  readonly seconds: number;
}

/** No test at all is no success, though the runner ends with 0. */
export const isPassed = ({ exitCode, tests }: Outcome) => exitCode === 0 && tests !== undefined && tests > 0;

/** How many tests node:test counts at the end of what its reporter `spec` wrote. */
export function countTests(written: string): number | undefined {
  const [, count] = [...written.matchAll(/ℹ tests (\d+)/g)].at(-1) ?? [];
  return count === undefined ? undefined : Number(count);
}

const MOST_LINES = 100;

/** What the reporter `spec` says of the tests that failed; the end of what was written where it names none. */
export function complaintsOf(written: string): string {
  const at = written.lastIndexOf('failing tests:');
  return at >= 0 ? written.slice(at) : written.split('\n').slice(-MOST_LINES).join('\n');
}

/** The outcomes as a table for people. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = [
    ['Node', 'run', 'result', 'tests', 'seconds'],
    ...outcomes.map((one) => [
      one.version,
      one.run,
      isPassed(one) ? 'passed' : 'FAILED',
      String(one.tests ?? '?'),
      one.seconds.toFixed(0),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
