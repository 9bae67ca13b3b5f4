/** What kind of trouble it was; the command line turns each into an exit code. */
export type ProblemCode = 'usage' | 'fixture' | 'unreachable' | 'interrupted';

/** An error that the user can mend: the message says what, where and how. Never shown with a stack. */
export class Problem extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.name = 'Problem';
    this.code = code;
  }
}
