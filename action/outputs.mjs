/**
 * The outputs of the action, as a file of GitHub's commands takes them.
 *
 * @param {{ code: number, record: object | undefined, files: string[], delimiter: string }} found the exit code,
 *   the run record where there is one, the absolute names of the reports, and a line that stands in no value
 */
export function renderOutputs({ code, record, files, delimiter }) {
  const { passed = '', failed = '', inconclusive = '' } = record?.counts.required ?? {};
  const outputs = {
    verdict: record?.verdict ?? '',
    'exit-code': code,
    passed,
    failed,
    inconclusive,
    reports: files.join('\n'),
  };
  return Object.entries(outputs)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}
