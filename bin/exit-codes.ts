import type { Checkup, RunRecord } from '../schemas/generated/types.ts';
import { judgementOf } from '../reports/judgement.ts';
import { Problem, TOO_MANY_FILES, type ProblemCode } from '../schemas/problem.ts';

/** Exit codes by name, as in the help. */
export const exitCodes = {
  conformant: [0, 'conformant; known failures (--baseline) do not count'],
  nonconformant: [
    1,
    'nonconformant: a required requirement failed (with --strict: or a recommended one), or the baseline is invalid',
  ],
  usage: [2, 'wrong usage, configuration or fixture'],
  incomplete: [
    3,
    'incomplete: a required requirement could not be checked (with --strict: or a level was not tried), none was verified, or the target stopped answering (--allow-incomplete: 0 if any was verified, and only data, levels or time were missing)',
  ],
  unreachable: [4, 'target unreachable, another service, or only a gateway'],
  bug: [70, 'a bug of ib-conformance'],
  interrupted: [130, 'interrupted; the reports cover the run so far'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

const codes: Readonly<Record<ProblemCode, number>> = {
  usage: exitCodes.usage[0],
  fixture: exitCodes.usage[0],
  unreachable: exitCodes.unreachable[0],
  interrupted: exitCodes.interrupted[0],
  closed: 0,
};

/** Returns the exit code of a run. The record says how strictly it is judged. */
export const exitCodeOf = (record: RunRecord): number => exitCodes[judgementOf(record).ending][0];

/** Exit codes of `doctor` and `init` by verdict: whether a run can start. */
export const exitCodeOfCheckup = {
  ok: exitCodes.conformant[0],
  problems: exitCodes.usage[0],
  unreachable: exitCodes.unreachable[0],
} as const satisfies Record<Checkup['verdict'], number>;

/** Returns exit code and message of an error: none if the reader has seen enough. It has a stack only for a bug of ours. */
export function describeError(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof AggregateError) {
    const all = error.errors.map(describeError);
    const code = Math.max(...all.map((one) => one.code));
    return { code, message: all.map(({ message }) => message).join('\n') };
  }
  if (error instanceof Problem && error.code === 'closed') return { code: codes.closed, message: '' };
  if (error instanceof Problem)
    return { code: codes[error.code], message: error.message.replace(/^(?!next: )/gm, 'ib-conformance: ') };
  const problem = systemProblem(error as SystemError);
  if (problem !== undefined) return { code: exitCodes.usage[0], message: `ib-conformance: ${problem}` };
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    code: exitCodes.bug[0],
    message: `ib-conformance: this is a bug of ib-conformance. Please report it:\n${stack}`,
  };
}

/** Node names what its permission model refuses. */
interface SystemError extends NodeJS.ErrnoException {
  readonly permission?: string;
  readonly resource?: string;
}

/** Explains system errors that stop any command; undefined for others. */
function systemProblem(error: SystemError): string | undefined {
  const { code = '', syscall, name, message, permission = '', resource = '' } = error;
  if (code === 'ERR_ACCESS_DENIED')
    return `Node's permission model refuses ${permission} ${resource}: allow it, or start without --permission`;
  // Deno names the flag.
  if (name === 'NotCapable') return message;
  if (syscall === 'uv_cwd') return 'the working directory was deleted: change to another one';
  return code === 'EMFILE' || code === 'ENFILE' ? TOO_MANY_FILES : undefined;
}

/** Ignores that the reader closed standard output; rethrows other errors. */
export function ignoreClosed(error: unknown): void {
  if (!(error instanceof Problem && error.code === 'closed')) throw error;
}
