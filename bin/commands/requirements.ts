import type { CliContext } from '../cli-context.ts';
import { command } from './command.ts';
import { onOff } from './flags.ts';
import {
  catalogue,
  factors,
  forbiddenPairs,
  knownFrom,
  rankOf,
  everyKind,
  table,
  type Facts,
  type LookupRow,
  type RightAnswer,
} from '../../suites/index.ts';
import { loadFixture } from '../input-files.ts';
import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';

export const requirements = command({
  usage: 'requirements',
  what: 'list the requirements',
  flags: {
    json: { ...onOff, describe: 'print JSON' },
    factors: { ...onOff, describe: 'list the factors of a lookup and their levels' },
    table: { ...onOff, describe: 'print the right answers to every kind of lookup, as Markdown' },
  },
  run: async ({ json, factors: showsFactors, table: showsTable }, { print, env }) => {
    if (showsTable) {
      await print(requirementsTable());
      return 0;
    }
    if (showsFactors) {
      await print(await factorTable(env));
      return 0;
    }
    const texts = catalogue.map(({ id, level, title, clause, reading }) =>
      lines(`${id}  (${level})`, `    ${title}`, `    ${clause}`, reading && `    Our reading: ${reading}`),
    );
    const shown = ['id', 'level', 'rank', 'title', 'clause', 'reading'];
    const ranked = catalogue.map((row) => ({ ...row, rank: rankOf(row) }));
    await print(json ? `${JSON.stringify(ranked, shown, 2)}\n` : texts.join(''));
    return 0;
  },
});

/** Lists the factors of each endpoint with the built-in fixture, which supplies every level. */
async function factorTable(env: CliContext['env']): Promise<string> {
  const known = knownFrom(await loadFixture(undefined, env));
  const tables = (['user-status', 'deposit-check'] as const).map((endpoint) => {
    const forbidden = forbiddenPairs(endpoint, known);
    return lines(
      `${endpoint}  (the first level of each factor is the default)`,
      ...factors[endpoint].flatMap(({ name, names, isGate }) => [
        `    ${name}${isGate ? '  (gate: any other level decides the answer)' : ''}`,
        `        ${names.join('; ')}`,
      ]),
      '    never combined',
      ...forbidden.map(([one, other]) => `        ${one}, with ${other}`),
    );
  });
  return tables.join('\n');
}

const lines = (...texts: readonly (string | undefined)[]) =>
  texts.map((text) => (text ? `${text}\n` : '')).join('');

/**
 * Returns the decision table of each endpoint as Markdown: every kind of lookup, its right answers and its
 * requirements. Queries that nothing else tells apart share a row. The words come first.
 */
export const requirementsTable = (): string =>
  [
    words,
    ...endpointNames.map((endpoint) => [`## ${endpoint}`, '', head, ...rowsOf(endpoint), ''].join('\n')),
  ].join('\n');

const words = `# Right answers to every kind of lookup

The first answer is what the interface says. An answer after "or" is right too, because the interface is silent.
\`repeatable\` is about every lookup, so it is left out.

- key: accepted, open: an active key of a partner; open: in a form that the interface does not show, such as \`bearer\`
- key: elsewhere: in the query, a cookie, another header or the body
- query: alternative-spelling: another notation of a UUID, such as braces
- query: hostile: a query that may break a parser
- answer: refused: 401, or any other answer that does not let the caller in
- answer: refused, by anybody: any status from 400 to 499; a valid id in an unusual place may also be read
`;

const head = `| key | what the partner sees | query | right answers | requirements |
| --- | --- | --- | --- | --- |`;

function rowsOf(endpoint: Endpoint): readonly string[] {
  const rows = new Map<string, { readonly cells: readonly string[]; readonly queries: string[] }>();
  for (const facts of everyKind(endpoint)) {
    const cells = [keyOf(facts), entityOf(facts), answersTo(facts), requirementsOf(facts)];
    const name = cells.join();
    const row = rows.get(name) ?? { cells, queries: [] };
    row.queries.push(queryOf(facts));
    rows.set(name, row);
  }
  return [...rows.values()].map(
    ({ cells: [key, entity, ...others], queries }) =>
      `| ${[key, entity, queries.join('; '), ...others].join(' | ')} |`,
  );
}

/** The plain reading first, then answers that are right too. */
function answersTo(facts: Facts): string {
  const { right } = table.coverOf(facts);
  const names = (some: readonly RightAnswer[]) =>
    new Set(
      some.map(({ answer, row }) => `${answer.name}${row.level === 'required' ? '' : ' (recommended)'}`),
    );
  const plain = names(right.filter(({ isPlain, row }) => isPlain && row.refines !== true));
  const also = names(right.filter(({ isPlain }) => !isPlain));
  return [[...plain].join(', '), ...[...also].filter((name) => !plain.has(name))].join(', or ');
}

function requirementsOf(facts: Facts): string {
  const { right, rows } = table.coverOf(facts);
  const all = new Set<LookupRow>([...rows, ...right.map(({ row }) => row)]);
  // The repetition is about every lookup, as the text above the table says.
  return [...all].flatMap((row) => (row.kind === 'repetition' ? [] : [`\`${row.id}\``])).join(' ');
}

const keyOf = ({ key, isOtherKey }: Facts) => `${key}${isOtherKey ? " (another partner's)" : ''}`;

function queryOf({
  endpoint,
  parameter,
  isEncoded,
  isAlone,
  isCased,
  isOtherVersion,
  isOpen,
}: Facts): string {
  const { parameter: name } = endpoints[endpoint];
  const flags = [
    isCased && 'in upper or mixed case',
    isOtherVersion && 'of another version than 4',
    isEncoded && 'percent-encoded',
    !isAlone && 'beside other parameters',
    isOpen && isAlone && !isEncoded && (parameter === 'hostile' ? 'with a valid id' : 'in an unknown form'),
  ].filter((flag) => flag !== false);
  return [parameter === 'plain' ? name : parameter, ...flags].join(', ');
}

const entityOf = ({ entity, isOurs, isBecoming, key, parameter }: Facts) => {
  const isSeen = (key === 'accepted' || key === 'open') && /plain|alternative/.test(parameter);
  if (!isSeen) return '';
  return `${entity}${isOurs ? ', of the partner under test' : ''}${isBecoming ? ', becomes EXECUTED' : ''}`;
};
