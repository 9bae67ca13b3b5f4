import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Texts = Readonly<Record<string, string>>;

/** A step of a composite action. */
export interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Texts;
  readonly 'working-directory'?: string;
}

/** What stands in an `action.yml`. */
export interface CompositeAction {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** Where the action runs, and with what. */
export interface Job {
  /** Folder of the action. */
  readonly action: string;
  /** Folder that the steps start in. */
  readonly workspace: string;
  /** Folder for the files of the runner. */
  readonly temp: string;
  readonly env: Texts;
  readonly inputs: Texts;
  /** Brings about what another action would, and returns the environment behind it. */
  readonly use: (name: string, env: Texts) => Texts;
  /** Told of each step that starts, and how to signal it. */
  readonly onStep?: (signal: (name: NodeJS.Signals) => void) => void;
}

/** What became of an action. */
export interface Ending {
  /** Exit code of the step that failed; 0 where none did. */
  readonly code: number;
  readonly outputs: Texts;
  readonly stdout: string;
  readonly stderr: string;
  /** Summary of the step, in Markdown. */
  readonly summary: string;
}

interface Contexts {
  readonly inputs: Texts;
  readonly steps: Readonly<Record<string, Texts>>;
}

/** For tests: runs the steps of a composite action with bash, as GitHub's runner does, as far as the action asks for it. */
export async function runComposite({ inputs, outputs, runs }: CompositeAction, job: Job): Promise<Ending> {
  const given = Object.fromEntries(
    Object.entries(inputs).map(([name, { default: value = '' }]) => [name, job.inputs[name] ?? value]),
  );
  const summary = join(job.temp, 'summary.md');
  writeFileSync(summary, '');
  const steps: Record<string, Texts> = {};
  const contexts = { inputs: given, steps };
  let [code, stdout, stderr] = [0, '', ''];
  let env: Texts = {
    ...job.env,
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: job.action,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_WORKSPACE: job.workspace,
    RUNNER_TEMP: job.temp,
  };
  for (const [index, step] of runs.steps.entries()) {
    // A step runs where all before it succeeded.
    if (code !== 0 || !holds(step.if, contexts)) continue;
    if (step.uses !== undefined) env = job.use(step.uses, env);
    if (step.run === undefined) continue;
    const output = join(job.temp, `output-${index}`);
    writeFileSync(output, '');
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, evaluate(value, contexts)]);
    const ran = await runStep(
      step,
      join(job.workspace, evaluate(step['working-directory'] ?? '.', contexts)),
      { ...env, ...Object.fromEntries(own), GITHUB_OUTPUT: output },
      job,
    );
    code = ran.code;
    stdout += ran.stdout;
    stderr += ran.stderr;
    if (step.id !== undefined) steps[step.id] = outputsIn(readFileSync(output, 'utf8'));
  }
  return {
    code,
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, { value }]) => [name, evaluate(value, contexts)]),
    ),
    stdout,
    stderr,
    summary: readFileSync(summary, 'utf8'),
  };
}

async function runStep({ run = '', shell }: Step, cwd: string, env: Texts, { temp, onStep }: Job) {
  if (shell !== 'bash') throw new Error(`there is no shell ${shell} here`);
  return await runBash(run, { cwd, env, temp, ...(onStep === undefined ? {} : { onStart: onStep }) });
}

/** Where a script runs; it is kept in `temp`, and `onStart` is told how to signal it. */
interface Place {
  readonly cwd: string;
  readonly env: Texts;
  readonly temp: string;
  readonly onStart?: (signal: (name: NodeJS.Signals) => void) => void;
}

/** For tests: runs a script as CI servers do: it ends with its first command that fails. */
export async function runBash(script: string, { cwd, env, temp, onStart }: Place) {
  const file = join(temp, 'step.sh');
  writeFileSync(file, script);
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], { cwd, env });
  onStart?.((name) => child.kill(name));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout, stderr };
}

/** The places that an expression may name. */
function lookUp(path: string, { inputs, steps }: Contexts): string {
  const [, input, step = '', output = ''] =
    /^(?:inputs\.([\w-]+)|steps\.([\w-]+)\.outputs\.([\w-]+))$/.exec(path) ?? [];
  if (input === undefined && step === '') throw new Error(`cannot evaluate ${path}`);
  if (input === undefined) return steps[step]?.[output] ?? '';
  const value = inputs[input];
  if (value === undefined) throw new Error(`there is no input ${input}`);
  return value;
}

const evaluate = (text: string, contexts: Contexts) =>
  text.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, path: string) => lookUp(path, contexts));

/** Conditions of the form `place != 'text'`, and none. */
function holds(condition: string | undefined, contexts: Contexts): boolean {
  if (condition === undefined) return true;
  const [, path, text] = /^(\S+) != '([^']*)'$/.exec(condition) ?? [];
  if (path === undefined) throw new Error(`cannot evaluate ${condition}`);
  return lookUp(path, contexts) !== text;
}

/** `name=value` and `name<<delimiter`, value and delimiter on lines of their own. */
function outputsIn(text: string): Texts {
  const found = text.matchAll(/^([\w-]+)(?:=(.*)|<<(.+)\n([^]*?)\n?^\3)$/gm);
  return Object.fromEntries([...found].map(([, name, line, , lines]) => [name, line ?? lines ?? '']));
}
