import { Problem } from '../schemas/problem.ts';

/** Lets pass that standard output was closed by its reader, and nothing else. */
export function unlessClosed(error: unknown): void {
  if (!(error instanceof Problem && error.code === 'closed')) throw error;
}
