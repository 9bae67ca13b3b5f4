import { nextBoundary, skipBlank, stringEnd, type Nesting } from './json-bytes.ts';

/** A piece of the JSON text of an object. */
export type Piece =
  /** A whole member. */
  | { readonly kind: 'member'; readonly key: string; readonly value: unknown }
  /** The next elements of a member that is an array; none at all where it is empty. */
  | {
      readonly kind: 'elements';
      readonly key: string;
      readonly isFirst: boolean;
      readonly elements: readonly unknown[];
    };

/** The text is no JSON object, or a strange one. A parser that reads it whole can say where. */
export class NotSplit extends Error {}

/** The most bytes of one element or member. */
const MOST_PENDING = 2 ** 26;

const [QUOTE, COMMA, COLON, BRACE, BRACE_END, BRACKET, BRACKET_END] = [
  0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d,
];
const BYTE_ORDER_MARK = '\uFEFF';

type State = 'start' | 'firstKey' | 'key' | 'colon' | 'value' | 'member' | 'elements' | 'after' | 'end';

/**
 * Parses the text of a JSON object from blocks of bytes, holding no more of it than a block and an
 * element: it may be longer than a string can be. Only the commas between elements are looked for
 * here; all that stands between them goes through `JSON.parse`, so that nothing passes which that
 * refuses.
 *
 * @param blocks the text in UTF-8
 * @throws NotSplit
 */
export async function* splitJson(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let buffer: Buffer = Buffer.alloc(0);
  let state: State = 'start';
  /** Where the text begins that is not parsed yet, and how far it has been looked at. */
  let [from, at] = [0, 0];
  let nesting: Nesting = { depth: 0, isInString: false };
  let [key, isFirst, isNewBlock] = ['', true, true];

  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      throw new NotSplit();
    }
  };
  const elementsTo = (to: number, mayBeNone: boolean): Piece => {
    const elements = parse(`[${buffer.toString('utf8', from, to)}]`) as readonly unknown[];
    if (elements.length === 0 && !mayBeNone) throw new NotSplit();
    const piece: Piece = { kind: 'elements', key, isFirst, elements };
    isFirst = false;
    from = to + 1;
    return piece;
  };
  /**
   * The elements up to the last comma behind a brace, if they are whole ones. That they parse shows
   * it: a comma that lies in a string or in an element leaves something open.
   */
  const guess = (): Piece | undefined => {
    const comma = buffer.lastIndexOf('},') + 1;
    if (comma <= from) return undefined;
    try {
      const piece = elementsTo(comma, false);
      at = from;
      nesting = { depth: 0, isInString: false };
      return piece;
    } catch {
      return undefined;
    }
  };
  const expect = (byte: number, next: State) => {
    if (buffer[at] !== byte) throw new NotSplit();
    at += 1;
    state = next;
  };
  const afterMember = () => (buffer[at] === COMMA ? expect(COMMA, 'key') : expect(BRACE_END, 'end'));

  /** Goes on in the buffer until it holds no more whole pieces. */
  function* pieces(): Generator<Piece> {
    for (;;) {
      if (state !== 'member' && state !== 'elements') {
        at = skipBlank(buffer, at);
        from = at;
      }
      if (at >= buffer.length) break;
      switch (state) {
        case 'start':
          expect(BRACE, 'firstKey');
          break;
        case 'firstKey':
        case 'key': {
          if (state === 'firstKey' && buffer[at] === BRACE_END) {
            expect(BRACE_END, 'end');
            break;
          }
          if (buffer[at] !== QUOTE) throw new NotSplit();
          const end = stringEnd(buffer, at + 1);
          if (end < 0) return;
          key = parse(buffer.toString('utf8', at, end)) as string;
          at = end;
          state = 'colon';
          break;
        }
        case 'colon':
          expect(COLON, 'value');
          break;
        case 'value':
          nesting = { depth: 0, isInString: false };
          isFirst = true;
          if (buffer[at] === BRACKET) {
            expect(BRACKET, 'elements');
            from = at;
          } else state = 'member';
          break;
        case 'member':
          at = nextBoundary(buffer, at, nesting);
          if (at >= buffer.length) break;
          yield { kind: 'member', key, value: parse(buffer.toString('utf8', from, at)) };
          afterMember();
          break;
        case 'elements': {
          const guessed = isNewBlock ? guess() : undefined;
          isNewBlock = false;
          if (guessed !== undefined) {
            yield guessed;
            break;
          }
          let cut = -1;
          at = nextBoundary(buffer, at, nesting);
          while (buffer[at] === COMMA) {
            cut = at;
            at = nextBoundary(buffer, at + 1, nesting);
          }
          if (at < buffer.length) {
            yield elementsTo(at, isFirst);
            expect(BRACKET_END, 'after');
          } else if (cut >= 0) yield elementsTo(cut, false);
          break;
        }
        case 'after':
          afterMember();
          break;
        case 'end':
          throw new NotSplit();
      }
    }
  }

  let isFirstBlock = true;
  for await (const block of blocks) {
    const rest = buffer.subarray(from);
    if (rest.length > MOST_PENDING) throw new NotSplit();
    at -= from;
    from = 0;
    buffer = Buffer.concat([rest, block]);
    // Behind anything else, a mark is none.
    if (isFirstBlock && buffer.toString('utf8', 0, 3) === BYTE_ORDER_MARK) at = 3;
    isFirstBlock = false;
    isNewBlock = true;
    yield* pieces();
  }
  if ((state as State) !== 'end') throw new NotSplit();
}
