/** Names of the formats of a report, for the help: the command line starts without the formats themselves. */
export const reportFormats: readonly string[] = [
  'console',
  'html',
  'json',
  'junit',
  'markdown',
  'github',
  'badge',
  'tap',
];

/** The same for comparisons of two runs. */
export const comparisonFormats: readonly string[] = ['console', 'markdown', 'json'];

/** What is written while a run goes on: no report of its record. */
export const transcriptFormats: readonly string[] = ['ndjson'];

/** The same for scorecards of a client. */
export const gradeFormats: readonly string[] = ['json', 'junit', 'text'];
