import { Problem } from './problem.ts';
import type { Redact } from './redact.ts';

/** An error as it may be told: its message, its stack and those of its causes without secrets. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (error instanceof Problem) return new Problem(error.code, redact(error.message));
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const { message, stack, cause } = error;
  error.message = redact(message);
  if (stack !== undefined) error.stack = redact(stack);
  if (cause !== undefined) error.cause = redactError(cause, redact);
  return error;
}
