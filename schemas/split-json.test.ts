import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NotSplit, splitJson } from './split-json.ts';

/** The bytes of a text in blocks of the given lengths, used again from the start. */
async function* inBlocks(text: string, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  let [at, nth] = [0, 0];
  while (at < bytes.length) {
    const end = at + lengths[nth++ % lengths.length]!;
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** What the pieces come to; undefined where the text was not split. */
async function joined(text: string, lengths: readonly number[]): Promise<unknown> {
  const whole: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  try {
    for await (const piece of splitJson(inBlocks(text, lengths)))
      if (piece.kind === 'member') whole[piece.key] = piece.value;
      else whole[piece.key] = [...(piece.isFirst ? [] : (whole[piece.key] as unknown[])), ...piece.elements];
    return whole;
  } catch (error) {
    if (error instanceof NotSplit) return undefined;
    throw error;
  }
}

/** What JSON.parse makes of it, if it is an object. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.assign(Object.create(null), value) : undefined;
  } catch {
    return undefined;
  }
}

const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 });
/** Strings full of what a scanner could stumble over. */
const strings = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom('},{', '],', '"', '\\', '\\"},', 'é', '😀', '\u2028'),
);
/**
 * Names are written without escapes: once the V8 of Node 24 and 26 has read a name with a backslash, `JSON.parse` may take
 * another that is escaped for it (https://github.com/nodejs/node/issues/63785), and be wrong about what is expected.
 */
const names = fc
  .oneof(strings, fc.constantFrom('users', 'deposits'))
  .filter((name) => JSON.stringify(name) === `"${name}"`);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'xsmall', maxDepth: 3 },
    strings,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const texts = fc
  .tuple(
    fc.dictionary(names, fc.oneof(fc.array(values), values), { maxKeys: 4 }),
    fc.constantFrom(undefined, 1, '\t', '\n'),
    fc.constantFrom('', '\uFEFF'),
  )
  .map(([value, indent, mark]) => mark + JSON.stringify(value, null, indent));

test('pieces of any size come to what JSON.parse makes of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(texts, lengths, async (text, sizes) => {
      // The mark is looked for in the first block.
      assert.deepEqual(await joined(text, [Math.max(3, sizes[0]!), ...sizes]), parsed(text));
    }),
    { numRuns: 500 },
  );
});

test('names of members may be escaped, and hold what ends a name', async () => {
  const whole = { '\\': [1], '"': [2, { a: 3 }], '\\"},': 4, '\n': ['x'], '},{': [], '"],': { a: 5 } };
  const text = JSON.stringify(whole);
  for (let size = 1; size <= text.length; size += 1)
    assert.deepEqual(await joined(text, [size]), Object.assign(Object.create(null), whole), `by ${size}`);
});

test('of a text that is broken in one place, no piece passes that JSON.parse would refuse', async () => {
  const breakages = fc.constantFrom(
    '',
    ',',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ':',
    'x',
    ' ',
    '0',
    '\u0000',
    ',,',
  );
  await fc.assert(
    fc.asyncProperty(
      texts,
      fc.nat(),
      fc.nat(2),
      breakages,
      lengths,
      async (text, place, length, put, sizes) => {
        const at = place % (text.length + 1);
        // Half an emoji is none in UTF-8.
        const broken = (text.slice(0, at) + put + text.slice(at + length)).toWellFormed();
        const found = await joined(broken, sizes);
        if (found !== undefined) assert.deepEqual(found, parsed(broken));
      },
    ),
    { numRuns: 1000 },
  );
});

test('what no member can stand in is refused', async () => {
  for (const text of [
    '',
    ' ',
    '[]',
    '1',
    '{',
    '{}}',
    '{} {}',
    '{,}',
    '{"a":1,}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[{},]}',
    '{"a":[{},\n]}',
    '{"a":[1],"b"}',
    '{"a":}',
    '{"a":[{}}}',
    '{"a":[1]]}',
    '{a:1}',
    '{"a":[{}',
    ' \uFEFF{}',
    '\uFEFF\uFEFF{}',
  ])
    for (const sizes of [[1], [3], [1, 3], [100]])
      assert.equal(await joined(text, sizes), undefined, `${JSON.stringify(text)} by ${sizes.join()}`);
});
