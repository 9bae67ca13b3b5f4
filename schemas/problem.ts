/** What kind of trouble it was; the command line turns each into an exit code. `closed`: nobody reads on. */
export type ProblemCode = 'usage' | 'fixture' | 'unreachable' | 'interrupted' | 'closed';

/** An error that the user can mend: the message says what, where and how. Never shown with a stack. */
export class Problem extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.name = 'Problem';
    this.code = code;
  }
}
