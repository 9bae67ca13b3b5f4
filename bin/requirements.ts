import { catalogue, clauses, isMeant } from '../suites/index.ts';

/** The catalogue, for people. */
export function listRequirements(): string {
  return catalogue
    .map(({ id, level, title, clause, reading }) => {
      const taken = reading === undefined ? [] : [`    Reading taken: ${reading}`];
      return [`${id}  (${level})`, `    ${title}`, `    ${clause}`, ...taken, ''].join('\n');
    })
    .join('');
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

/** What the interface binds a server to, clause by clause, and what checks it. */
export function listClauses(): string {
  return clauses
    .map(({ section, binds, checkedBy, unchecked }) => {
      const ids = catalogue
        .filter(({ id }) => checkedBy.some((pattern) => isMeant(id, pattern)))
        .map(({ id }) => `    ${id}`);
      return [
        `${section}: ${binds}`,
        ...ids,
        ...(unchecked === undefined ? [] : [`    not told by a black box: ${unchecked}`]),
        '',
      ].join('\n');
    })
    .join('');
}
