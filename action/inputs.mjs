/** What is wrong with an input; the message names it and says what it needs. */
export class InputProblem extends Error {}

const withValue = ['fixture', 'partner', 'cases', 'max-duration', 'baseline', 'state-url'];
const onOff = ['strict', 'allow-incomplete'];

/**
 * The inputs of the action as arguments of the program, and the files that its reports go to.
 *
 * @param {Readonly<Record<string, string | undefined>>} env `INPUT_` and the name of each input
 * @returns {{ argv: string[], files: string[] }} file names as they were given
 * @throws {InputProblem} for an input that could be taken for something else
 */
export function readInputs(env) {
  const input = (name) => env[`INPUT_${name.toUpperCase().replaceAll('-', '_')}`]?.trim() ?? '';
  const list = (name, separator) =>
    input(name)
      .split(separator)
      .map((one) => one.trim())
      .filter(Boolean);
  // What was given is not shown: a URL or a header may hold a secret.
  const problem = (name, what) => new InputProblem(`${name}: ${what}`);

  // Without a URL verify would run against its own mock, and pass; one that begins with - would be a flag.
  if (!/^https?:\/\//i.test(input('url'))) throw problem('url', 'needs the http or https URL of the server');
  for (const name of onOff)
    if (!['', 'true', 'false'].includes(input(name))) throw problem(name, 'needs true or false');
  const reports = list('reports', /\r?\n/);
  if (!reports.every((report) => /^[a-z]+=./.test(report)))
    throw problem('reports', 'needs format=file on each line');
  const rest = list('args', /\r?\n/);
  // A bare -- would hide what follows it, and a value on a line of its own would be an argument of its own.
  if (!rest.every((flag) => /^--[a-z]/.test(flag)))
    throw problem('args', 'needs a flag on each line, its value behind =');

  return {
    argv: [
      'verify',
      input('url'),
      // Also false is said: a config file of the project may say otherwise.
      ...[...withValue, ...onOff]
        .filter((name) => input(name) !== '')
        .map((name) => `--${name}=${input(name)}`),
      ...list('suites', /[\s,]+/).map((suite) => `--suite=${suite}`),
      ...['console', ...reports].map((report) => `--report=${report}`),
      ...rest,
    ],
    files: reports.map((report) => report.slice(report.indexOf('=') + 1)),
  };
}
