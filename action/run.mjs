// Runs verify with the inputs of the action (INPUT_* variables), writes the outputs and exits like verify.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const { env } = process;
const program = fileURLToPath(new URL('../bin/ib-conformance.mjs', import.meta.url));
const WRONG_USAGE = 2;
const OUR_BUG = 70;
const withValue = ['fixture', 'partner', 'cases', 'max-duration', 'baseline', 'state-url'];
const onOff = ['strict', 'allow-incomplete'];

/** A wrong input. The message does not show its value: a URL or a header may contain a secret. */
class InputError extends Error {}

const input = (name) => env[`INPUT_${name.toUpperCase().replaceAll('-', '_')}`]?.trim() ?? '';
const list = (name, separator) =>
  input(name)
    .split(separator)
    .map((item) => item.trim())
    .filter(Boolean);

/** Arguments for the program, and the report files that they name. */
function readInputs() {
  // Without a URL, verify would test its own mock and pass. A text that begins with - would be a flag.
  if (!/^https?:\/\//i.test(input('url')))
    throw new InputError('url: needs the http or https URL of the server');
  for (const name of onOff)
    if (!['', 'true', 'false'].includes(input(name))) throw new InputError(`${name}: needs true or false`);
  const reports = list('reports', /\r?\n/);
  if (!reports.every((report) => /^[a-z]+=./.test(report)))
    throw new InputError('reports: needs format=file on each line');
  const flags = list('args', /\r?\n/);
  // A bare -- would turn the flags after it into arguments, and so would a value on a line of its own.
  if (!flags.every((flag) => /^--[a-z]/.test(flag)))
    throw new InputError('args: needs one flag per line, with its value after =');
  const argv = [
    'verify',
    input('url'),
    // "false" is passed too, because a config file of the project may say "true".
    ...[...withValue, ...onOff]
      .filter((name) => input(name) !== '')
      .map((name) => `--${name}=${input(name)}`),
    ...list('suites', /[\s,]+/).map((name) => `--only=${name}`),
    ...['console', ...reports].map((report) => `--report=${report}`),
    ...flags,
  ];
  return { argv, files: reports.map((report) => resolve(report.slice(report.indexOf('=') + 1))) };
}

/** Returns the exit code. GitHub cancels a step with a signal to this process; the run must still write its record. */
async function run(argv) {
  const child = spawn(process.execPath, [program, ...argv], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  return code ?? 128 + constants.signals[signal];
}

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/** Runs verify. The record goes to a new folder, so that an old record is never read. */
async function verify() {
  const { argv, files } = readInputs();
  for (const file of files) mkdirSync(dirname(file), { recursive: true });
  const folder = mkdtempSync(join(env['RUNNER_TEMP'] ?? tmpdir(), 'ib-conformance-'));
  try {
    const file = join(folder, 'run.json');
    const before = files.map(timeOf);
    const code = await run([...argv, `--report=json=${file}`]);
    const written = files.filter((one, at) => timeOf(one) !== before[at]);
    if (existsSync(file)) return { code, record: JSON.parse(readFileSync(file, 'utf8')), files: written };
    // Without a record there is no verdict: not with 0 (--help), and not with 1 (Node cannot start).
    if (code === 0) throw new InputError('nothing was verified: there is no run record');
    return { code: code === 1 ? OUR_BUG : code, files: written };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function explain(error) {
  const isUsage = error instanceof InputError || error.syscall === 'mkdir';
  process.stderr.write(`ib-conformance: ${isUsage ? error.message : error.stack}\n`);
  // Node would exit with 1, which means nonconformant.
  return { code: isUsage ? WRONG_USAGE : OUR_BUG };
}

const { code, record, files = [] } = await verify().catch(explain);
const { passed = '', failed = '', inconclusive = '' } = record?.counts.required ?? {};
const verdict = record?.verdict ?? '';
const outputs = { verdict, 'exit-code': code, passed, failed, inconclusive, reports: files.join('\n') };
const delimiter = randomUUID();
const lines = Object.entries(outputs).map(
  ([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`,
);
appendFileSync(env['GITHUB_OUTPUT'], lines.join(''));
process.exitCode = code;
