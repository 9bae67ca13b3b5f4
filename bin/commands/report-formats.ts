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
