import { catalogue } from '../suites/index.ts';

/** The catalogue, for people. */
export function listRequirements(): string {
  return catalogue
    .map(({ id, level, title, clause, reading }) =>
      [
        `${id}  (${level})`,
        `    ${title}`,
        `    ${clause}`,
        ...(reading === undefined ? [] : [`    Reading taken: ${reading}`]),
      ].join('\n'),
    )
    .join('\n')
    .concat('\n');
}

/** The catalogue, for programs. */
export function listRequirementsAsJson(): string {
  const rows = catalogue.map(({ id, level, title, clause, reading }) => ({
    id,
    level,
    title,
    clause,
    reading,
  }));
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}
