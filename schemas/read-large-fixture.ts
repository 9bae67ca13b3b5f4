import { finishFixture } from './check-fixture.ts';
import type { Environment } from './expand-keys.ts';
import { collectProblems } from './fixture-problems.ts';
import validate from './generated/fixture.cjs';
import type { Fixture } from './generated/types.ts';
import { isPlain } from './quick-check.ts';
import { schemaProblems } from './schema-problems.ts';
import { NotSplit, splitJson } from './split-json.ts';

/** The parts whose elements are checked one by one: at once where they are plain, else by the schema. */
const checks: Readonly<Record<string, (element: unknown) => boolean>> = {
  partners: () => false,
  apiKeys: () => false,
  ...isPlain,
};

/**
 * Reads a fixture from blocks of bytes, piece by piece, so that its text need not fit into memory,
 * nor into a string. It checks what `readFixture` checks and says what that would say.
 *
 * @param blocks the JSON text in UTF-8
 * @returns undefined where the text is no JSON or has a member twice: read it whole to say what it is
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export async function readLargeFixture(
  blocks: AsyncIterable<Uint8Array>,
  where: string,
  env: Environment,
): Promise<Fixture | undefined> {
  const problems = collectProblems(where);
  const parts = new Map<string, unknown>();
  const check = (piece: object, offset = 0) => {
    if (!validate(piece)) problems.add(schemaProblems(validate.errors ?? [], offset));
  };
  try {
    for await (const piece of splitJson(blocks)) {
      const { key } = piece;
      const isNew = piece.kind === 'member' || piece.isFirst;
      // Of a member given twice the last one counts, which takes a second look at the text.
      if (isNew && parts.has(key)) return undefined;
      if (piece.kind === 'member') {
        parts.set(key, piece.value);
        continue;
      }
      const list = isNew ? [] : (parts.get(key) as unknown[]);
      parts.set(key, list);
      const isGoodAlready = Object.hasOwn(checks, key) ? checks[key]! : () => true;
      for (const element of piece.elements) {
        if (!isGoodAlready(element)) check({ [key]: [element] }, list.length);
        list.push(element);
      }
    }
  } catch (error) {
    if (error instanceof NotSplit) return undefined;
    throw error;
  }
  // What was checked element by element is an array; the rest is checked here.
  check(
    Object.fromEntries(
      [...parts].map(([key, part]) => [key, Object.hasOwn(checks, key) && Array.isArray(part) ? [] : part]),
    ),
  );
  problems.throwIfAny();
  return finishFixture(Object.fromEntries(parts), where, env);
}
