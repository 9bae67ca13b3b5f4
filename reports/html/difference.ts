import { characterStart, firstDifference } from '../first-difference.ts';

/** A stretch of a text: as in the other one, other than there, or left out (the text is then empty). */
export interface Stretch {
  readonly is: 'same' | 'other' | 'cut';
  readonly text: string;
}

/** Two texts that are held side by side. */
export interface Difference {
  readonly expected: readonly Stretch[];
  readonly actual: readonly Stretch[];
}

/** What is the same before and after the difference is shortened to so many code units where it has more. */
const LONG = 300;
const KEPT = 60;
/** Code units up to which what differs is compared letter by letter. */
const MOST_COMPARED = 600;
/** Texts that share less than this part of the shorter one have nothing worth pointing at. */
const LEAST_SHARED = 1 / 4;

/**
 * Where two texts differ: between their common beginning and their common end, and there letter by letter
 * where both have as many of them.
 *
 * @param expected any text, however long
 * @param actual any text, however long
 */
export function difference(expected: string, actual: string): Difference {
  const from = firstDifference(expected, actual);
  const same = commonEnd(expected, actual, from);
  const shortest = Math.min(expected.length, actual.length);
  if (from + same < shortest * LEAST_SHARED) return { expected: only(expected), actual: only(actual) };
  const head = headOf(expected.slice(0, from));
  const tail = tailOf(expected.slice(expected.length - same));
  const middle = compared(
    expected.slice(from, expected.length - same),
    actual.slice(from, actual.length - same),
  );
  return {
    expected: [...head, ...middle.expected, ...tail],
    actual: [...head, ...middle.actual, ...tail],
  };
}

const only = (text: string): readonly Stretch[] => [{ is: 'same', text }];

/** Length of the common end, outside the common beginning of so many code units. */
function commonEnd(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let length = 0;
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length))
    length += 1;
  const start = a.length - length;
  return characterStart(a, start) === start && characterStart(b, b.length - length) === b.length - length
    ? length
    : length - 1;
}

function headOf(text: string): readonly Stretch[] {
  if (text.length <= LONG) return stretch('same', text);
  return [cut, ...stretch('same', text.slice(characterStart(text, text.length - KEPT)))];
}

function tailOf(text: string): readonly Stretch[] {
  if (text.length <= LONG) return stretch('same', text);
  return [...stretch('same', text.slice(0, characterStart(text, KEPT))), cut];
}

const cut: Stretch = { is: 'cut', text: '' };

const stretch = (is: Stretch['is'], text: string): readonly Stretch[] => (text === '' ? [] : [{ is, text }]);

/** What stands between the common beginning and end; a side that has nothing there keeps an empty stretch. */
function compared(expected: string, actual: string): Difference {
  const whole: Difference = {
    expected: [{ is: 'other', text: expected }],
    actual: [{ is: 'other', text: actual }],
  };
  if (expected === actual) return { expected: [], actual: [] };
  if (Math.max(expected.length, actual.length) > MOST_COMPARED) return whole;
  const [wanted, got] = [[...expected], [...actual]];
  if (wanted.length !== got.length) return whole;
  const others = wanted.map((character, at) => character !== got[at]);
  // Single letters that happen to be the same are no help to anybody.
  if (others.filter(Boolean).length > others.length / 2) return whole;
  return { expected: stretches(wanted, others), actual: stretches(got, others) };
}

function stretches(characters: readonly string[], others: readonly boolean[]): readonly Stretch[] {
  const found: { is: Stretch['is']; text: string }[] = [];
  for (const [at, character] of characters.entries()) {
    const is = others[at] === true ? 'other' : 'same';
    const last = found.at(-1);
    if (last?.is === is) last.text += character;
    else found.push({ is, text: character });
  }
  return found;
}
