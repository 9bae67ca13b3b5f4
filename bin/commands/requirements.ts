import type { CliContext } from '../cli-context.ts';
import { command } from './command.ts';
import { onOff } from './flags.ts';
import { catalogue, factors, forbiddenPairs, knownFrom, rankOf } from '../../suites/index.ts';
import { loadFixture } from '../input-files.ts';
import { endpointNames } from '../../schemas/endpoints.ts';

export const requirements = command({
  usage: 'requirements',
  what: 'list the requirements',
  guide: 'reference/requirements.md',
  flags: {
    json: { ...onOff, describe: 'print JSON' },
    factors: { ...onOff, describe: 'list the factors of a lookup and their levels' },
  },
  run: async ({ json, factors: showsFactors }, { print, env }) => {
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
  const tables = endpointNames.map((endpoint) => {
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
