import { command } from './command.ts';
import { onOff } from './flags.ts';

export const requirements = command({
  usage: 'requirements',
  what: 'list what is checked',
  flags: {
    json: { ...onOff, describe: 'as JSON, for programs' },
    'by-clause': { ...onOff, describe: 'by the clauses of the interface' },
  },
  run: async ({ json, byClause }, { print }) => {
    const { catalogue, clauses, isMeant } = await import('../../suites/index.ts');
    const rows = catalogue.map(({ id, level, title, clause, reading }) => ({
      id,
      level,
      title,
      clause,
      reading,
    }));
    const texts = byClause
      ? clauses.map(({ section, binds, checkedBy, unchecked }) =>
          lines(
            `${section}: ${binds}`,
            ...rows
              .filter(({ id }) => checkedBy.some((pattern) => isMeant(id, pattern)))
              .map(({ id }) => `    ${id}`),
            unchecked && `    a black box does not show: ${unchecked}`,
          ),
        )
      : rows.map(({ id, level, title, clause, reading }) =>
          lines(
            `${id}  (${level})`,
            `    ${title}`,
            `    ${clause}`,
            reading && `    Reading taken: ${reading}`,
          ),
        );
    await print(json && !byClause ? `${JSON.stringify(rows, undefined, 2)}\n` : texts.join(''));
    return 0;
  },
});

const lines = (...texts: readonly (string | undefined)[]) =>
  texts.map((text) => (text ? `${text}\n` : '')).join('');
