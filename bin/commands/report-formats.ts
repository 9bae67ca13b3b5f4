/** Formats of a client's scorecard, for the help: the command line starts without the formats themselves. */
export const gradeFormats: readonly string[] = ['json', 'text'];
