import type { Command, Family, Flag, Vocabulary } from '../commands/command.ts';

/** A word that may stand where the cursor is, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly what: string;
}

/** What may stand where the cursor is: one of these words, or the name of a file behind what begins the word already. */
export type Candidates =
  | { readonly kind: 'words'; readonly words: readonly Candidate[] }
  | { readonly kind: 'file'; readonly behind: string };

/** All that a line can be completed from. */
export interface Sources {
  readonly commands: readonly (Command | Family)[];
  readonly wordsOf: (name: Vocabulary) => Promise<readonly Candidate[]>;
}

/**
 * What a command line may go on with.
 *
 * @param words that stand before the word at the cursor, without the program
 * @param current what of that word stands before the cursor; may be empty
 */
export async function candidates(
  words: readonly string[],
  current: string,
  { commands, wordsOf }: Sources,
): Promise<Candidates> {
  const { command, others, rest } = commandOf(commands, words);
  if (command === undefined)
    return among([...others, ...(current.startsWith('-') ? everywhere : [])], current);
  const { open, given, values, placed } = read(command, rest);
  if (open !== undefined) return valueOf(open, '', current, values, wordsOf);
  const [, begun = '', name = '', value = ''] = /^(--([^=]+)=)(.*)$/s.exec(current) ?? [];
  const named = Object.hasOwn(command.flags, name) ? command.flags[name] : undefined;
  if (named !== undefined) return valueOf(named, begun, value, values, wordsOf);
  const place = Object.values(command.positionals)[placed];
  if (!current.startsWith('-') && place !== undefined && isKnown(place))
    return valueOf(place, '', current, values, wordsOf);
  return among(flagsOf(command, given), current);
}

const everywhere: readonly Candidate[] = [
  { word: '--help', what: 'show help' },
  { word: '--version', what: 'show the version' },
];

/** The command that a line names, or the names that it may have, and the words behind it. */
function commandOf(commands: readonly (Command | Family)[], words: readonly string[]) {
  const at = words.findIndex((word) => !word.startsWith('-'));
  const found = commands.find(({ usage }) => usage.split(' ')[0] === words[at]);
  if (found !== undefined && 'commands' in found) return commandOf(found.commands, words.slice(at + 1));
  const others = at === -1 ? commands.map(({ usage, what }) => ({ word: usage.split(' ')[0]!, what })) : [];
  return { command: found, others, rest: words.slice(at + 1) };
}

/** What a line has said already: the last flag where it still wants its value, names of flags, values, how many arguments. */
function read({ flags }: Command, words: readonly string[]) {
  const given = new Set<string>();
  const values = new Set<string>();
  let open: Flag | undefined;
  let placed = 0;
  for (const word of words) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (open !== undefined) {
      values.add(word);
      open = undefined;
    } else if (flag !== undefined) {
      given.add(name);
      if (value !== undefined) values.add(value);
      else if (flag.type !== 'boolean') open = flag;
    } else if (!word.startsWith('-')) placed++;
  }
  return { open, given, values, placed };
}

const isKnown = ({ choices, holds, names }: Flag) => (choices ?? holds ?? names) !== undefined;

/** Flags that may still be given. */
const flagsOf = ({ flags }: Command, given: ReadonlySet<string>): readonly Candidate[] => [
  ...Object.entries(flags)
    .filter(([name, { array }]) => array === true || !given.has(name))
    .map(([name, { describe }]) => ({ word: `--${name}`, what: describe })),
  everywhere[0]!,
];

/**
 * @param begun what of the word stands before the value: `--suite=`
 * @param others values that the line has already
 */
async function valueOf(
  { choices = [], holds = choices, names }: Flag,
  begun: string,
  value: string,
  others: ReadonlySet<string>,
  wordsOf: Sources['wordsOf'],
): Promise<Candidates> {
  if (names === 'file') return { kind: 'file', behind: begun };
  const words = typeof holds === 'string' ? await wordsOf(holds) : holds.map((word) => ({ word, what: '' }));
  const [, format = ''] = names === undefined ? [] : (/^([^=]+=)/.exec(value) ?? []);
  if (words.some(({ word }) => format === `${word}=`)) return { kind: 'file', behind: begun + format };
  const open = words.filter(({ word }) => !others.has(word));
  return among(names === undefined ? open : open.flatMap(toBothPlaces), begun + value, begun);
}

/** A format, for standard output or for a file. */
const toBothPlaces = ({ word }: Candidate): readonly Candidate[] => [
  { word, what: 'to standard output' },
  { word: `${word}=`, what: 'to a file' },
];

const among = (words: readonly Candidate[], current: string, begun = ''): Candidates => ({
  kind: 'words',
  words: words
    .map(({ word, what }) => ({ word: begun + word, what }))
    .filter(({ word }) => word.startsWith(current)),
});
