import type { ValidateFunction } from 'ajv';
import * as validators from '../../schemas/generated/admin.cjs';
import { schemaProblems } from '../../schemas/json.ts';
import { Problem } from '../../schemas/problem.ts';

type RefusalDetails = Readonly<Record<string, unknown>> & {
  readonly place?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The mock refuses a call. The message gives the reason. */
export class Refusal extends Problem {
  readonly status: number;
  readonly details: RefusalDetails;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super('usage', message);
    this.name = 'Refusal';
    this.status = status;
    this.details = details;
  }
}

/** Creates a Refusal with status 400 and the wrong place in the request; an empty place is the whole body. */
export const badRequest = (place: string, message: string) =>
  new Refusal(400, place === '' ? message : `${place} ${message}`, { place: place || 'body' });

/** Creates the Refusal for the lines of a check: status 400, and the first wrong place. */
export function refusalOf(problems: readonly string[]): Refusal {
  const [first = ''] = problems;
  const [, ofWhole] = /^the \w+ (?:lacks|has an unknown key) "(.*?)"/.exec(first) ?? [];
  const [, place = 'body'] = /^(?!the )([\w$.[\]-]+)[ :]/.exec(first) ?? [];
  return new Refusal(400, problems.join('\n'), { place: ofWhole ?? place });
}

/** A schema of a query or body. Named here: the package has no declarations of its validators. */
export type Schema =
  | 'requestFilter'
  | 'dataFilter'
  | 'clockChange'
  | 'faultChange'
  | 'nextAnswer'
  | 'nextAnswers'
  | 'reset'
  | 'stateChange';

/**
 * Checks a query or body by a schema.
 *
 * @throws Refusal with 400 and the first wrong place
 */
export function checkInput(schema: Schema, what: 'query' | 'body', given: unknown): void {
  const validate: ValidateFunction = validators[schema];
  if (!validate(given)) throw refusalOf(schemaProblems(validate.errors, `the ${what}`).map((line) => line()));
}
