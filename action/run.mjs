// The step that verifies: inputs from the environment, outputs from the run record, the exit code from verify.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputProblem, readInputs } from './inputs.mjs';
import { renderOutputs } from './outputs.mjs';

const { env } = process;
const program = fileURLToPath(new URL('../bin/ib-conformance.mjs', import.meta.url));
const WRONG_USAGE = 2;
const OUR_BUG = 70;

/** Exit code of the program. GitHub cancels a step by a signal to this process: the run is to end with its record. */
async function run(argv) {
  const child = spawn(process.execPath, [program, ...argv], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  return code ?? 128 + constants.signals[signal];
}

/** Runs verify with the inputs. The record in a folder of its own tells this run from those before it. */
async function verify() {
  const { argv, files } = readInputs(env);
  for (const file of files) mkdirSync(dirname(resolve(file)), { recursive: true });
  const folder = mkdtempSync(join(env['RUNNER_TEMP'] ?? tmpdir(), 'ib-conformance-'));
  try {
    const file = join(folder, 'run.json');
    const code = await run([...argv, `--report=json=${file}`]);
    if (!existsSync(file)) return { code: withoutRecord(code), files: [] };
    return {
      code,
      record: JSON.parse(readFileSync(file, 'utf8')),
      files: files.map((one) => resolve(one)).filter((one) => existsSync(one)),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** No verdict without a record: neither a pass, as of --plan or --help, nor the 1 with which Node ends what cannot start. */
function withoutRecord(code) {
  if (code === 0) return complain('nothing was verified: there is no run record');
  return code === 1 ? OUR_BUG : code;
}

function complain(what) {
  process.stderr.write(`ib-conformance: ${what}\n`);
  return WRONG_USAGE;
}

function explain(error) {
  if (error instanceof InputProblem) return { code: complain(error.message), files: [] };
  if (error.syscall === 'mkdir')
    return { code: complain(`reports: the folder cannot be made: ${error.message}`), files: [] };
  // Node would end with 1, which says that the server is not conformant.
  process.stderr.write(`ib-conformance: ${error.stack}\n`);
  return { code: OUR_BUG, files: [] };
}

const found = await verify().catch(explain);
appendFileSync(env['GITHUB_OUTPUT'], renderOutputs({ ...found, delimiter: randomUUID() }));
process.exitCode = found.code;
