import { readFile } from 'node:fs/promises';
import type { Vocabulary } from '../commands/command.ts';
import type { Candidate } from './candidates.ts';

/**
 * The catalogue with its inputs and its engine is too much to load at each Tab: this is the list of it
 * that a test holds it to.
 */
const catalogue = new URL('../../suites/catalogue.snapshot.json', import.meta.url);

interface Listed {
  readonly id: string;
  readonly title: string;
}

const requirements = async () => JSON.parse(await readFile(catalogue, 'utf8')) as readonly Listed[];

/** The ids of a table, and what each row does. */
const rows = (table: Readonly<Record<string, { readonly what: string }>>): readonly Candidate[] => [
  ...Object.entries(table).map(([word, { what }]) => ({ word, what })),
  { word: 'list', what: 'list them' },
];

const vocabularies: Readonly<Record<Vocabulary, () => Promise<readonly Candidate[]>>> = {
  requirements: async () => (await requirements()).map(({ id, title }) => ({ word: id, what: title })),
  suites: async () => {
    const names = (await requirements()).map(({ id }) => id.split('/')[0]!);
    return [...new Set(names)].map((word) => ({
      word,
      what: `${names.filter((name) => name === word).length} requirements`,
    }));
  },
  faults: async () => rows((await import('../../mock/faults.ts')).faults),
  variants: async () => rows((await import('../../mock/variants.ts')).variants),
};

/** The words of a vocabulary, in the order of its registry. */
export const wordsOf = (name: Vocabulary): Promise<readonly Candidate[]> => vocabularies[name]();
