import type { Vocabulary } from '../commands/command.ts';
import type { Candidate } from './candidates.ts';

/** The list of the catalogue: the catalogue itself, with its inputs and its engine, takes too long to load at each Tab. */
const requirements = async () =>
  (await import('../../suites/catalogue.snapshot.json', { with: { type: 'json' } })).default;

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
