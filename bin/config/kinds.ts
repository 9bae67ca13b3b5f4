import type { Flag } from '../commands/command.ts';

/** The value of a flag, as a command is given it. */
export type Given = string | boolean | readonly string[];

/** What the values of a kind of flags look like where they are not typed. */
interface Kind {
  /** JSON Schema of a value in a config file. */
  readonly schema: (flag: Flag) => Readonly<Record<string, unknown>>;
  /** Whether a value in a config file is one. */
  readonly fits: (value: unknown, flag: Flag) => boolean;
  /** The value of a variable, which is not empty; undefined where it is none. */
  readonly ofVariable: (text: string, flag: Flag) => Given | undefined;
  /** What a value has to be, in words: "needs …". */
  readonly needs: (flag: Flag) => string;
}

/** Not empty; a control would act on the terminal that a message shows it on, and names no file. */
const text = { type: 'string', pattern: String.raw`^\P{Cc}+$` } as const;
const isText = (value: unknown) => typeof value === 'string' && new RegExp(text.pattern, 'u').test(value);
const booleans: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };
const choicesOf = ({ choices = [] }: Flag) => choices;

const kinds = {
  text: {
    schema: () => text,
    fits: isText,
    ofVariable: (value) => value,
    needs: () => 'a text without control characters',
  },
  number: {
    schema: () => ({ type: 'number' }),
    fits: (value) => typeof value === 'number',
    // What is wrong with it the command says, as of what was typed.
    ofVariable: (value) => value,
    needs: () => 'a number, without quotes',
  },
  choice: {
    schema: (flag) => ({ enum: choicesOf(flag) }),
    fits: (value, flag) => choicesOf(flag).some((choice) => choice === value),
    ofVariable: (value, flag) => choicesOf(flag).find((choice) => choice === value),
    needs: (flag) => `one of ${choicesOf(flag).join(', ')}`,
  },
  onOff: {
    schema: () => ({ type: 'boolean' }),
    fits: (value) => typeof value === 'boolean',
    ofVariable: (value) => (Object.hasOwn(booleans, value) ? booleans[value] : undefined),
    needs: () => 'true or false',
  },
  list: {
    schema: () => ({ type: 'array', items: text }),
    fits: (value) => Array.isArray(value) && value.every(isText),
    // Commas are common in header fields.
    ofVariable: (value, { isHeader }) =>
      value
        .split(isHeader === true ? '\n' : /[\n,]/)
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    needs: () => 'a list of texts without control characters, in brackets',
  },
} as const satisfies Record<string, Kind>;

/** The kind of a flag. */
export function kindOf({ array, type, choices, isNumber }: Flag): Kind {
  if (array === true) return kinds.list;
  if (type === 'boolean') return kinds.onOff;
  if (choices !== undefined) return kinds.choice;
  return isNumber === true ? kinds.number : kinds.text;
}
