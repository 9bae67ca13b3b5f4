import { execFile } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunRecord } from '../../../schemas/generated/types.ts';
import { readJson, root } from '../paths.ts';

const run = promisify(execFile);

/** The commit of 0.1.0, with which later versions are compared. */
const FIRST_RELEASE = '47af5e2';

/** Builds 0.1.0 from the history of this repository, with the packages of this checkout. Returns its command. */
export async function buildFirstRelease(folder: string): Promise<string> {
  const home = join(folder, '0.1.0');
  await run('git', ['clone', '--quiet', root, home]);
  await run('git', ['-C', home, 'checkout', '--quiet', FIRST_RELEASE]);
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  await run('npm', ['run', 'prepack'], { cwd: home });
  // Otherwise it runs its sources.
  rmSync(join(home, 'bin/main.ts'));
  return join(home, 'bin/ib-conformance.mjs');
}

/** Runs a command line and returns its processor time in seconds, of all threads. */
export async function processorOf(line: string, folder: string): Promise<number> {
  const script = `TIMEFORMAT='%U %S'; time ${line} >/dev/null 2>&1; true`;
  const { stderr } = await run('bash', ['-c', script], { cwd: folder, env: { ...process.env, CI: '' } });
  return stderr
    .trim()
    .split(/\s+/)
    .reduce((sum, seconds) => sum + Number(seconds), 0);
}

/** Numbers of lookups per endpoint of a short and a long run. */
const [SHORT, LONG] = [5000, 30_000];

/**
 * Returns the processor time in µs of each request that a long run sends more than a short one.
 *
 * @param verify command line without the number of cases
 */
export async function marginalCost(verify: string, folder: string): Promise<number> {
  const record = join(folder, 'run.json');
  const measure = async (cases: number) => {
    const seconds = await processorOf(`${verify} --cases ${cases} --report json=${record}`, folder);
    return { seconds, requests: readJson<RunRecord>(record).requests };
  };
  const [short, long] = [await measure(SHORT), await measure(LONG)];
  return ((long.seconds - short.seconds) / (long.requests - short.requests)) * 1_000_000;
}

/** The same for a loop that only sends lookups, on as many connections. */
export async function bareCost(url: string, folder: string): Promise<number> {
  const script = `const { Pool } = require(${JSON.stringify(join(root, 'node_modules/undici'))});
const [, origin, path, count] = process.argv;
const pool = new Pool(origin, { connections: 16 });
let left = Number(count);
const worker = async () => { while (left-- > 0) await (await pool.request({ path, method: "GET" })).body.text(); };
Promise.all(Array.from({ length: 16 }, worker)).then(() => pool.close());`;
  const { origin, pathname } = new URL(url);
  const measure = (count: number) =>
    processorOf(`${process.execPath} -e '${script}' ${origin} ${pathname} ${count}`, folder);
  return (((await measure(LONG)) - (await measure(SHORT))) / (LONG - SHORT)) * 1_000_000;
}
