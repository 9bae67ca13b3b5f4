import { createHash } from 'node:crypto';
import { defined } from '../../schemas/defined.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';
import type {
  Fixture,
  RequirementResult,
  TranscriptExchange,
  TranscriptLine,
} from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { readJson, type Answer } from '../answer.ts';
import { knowledge, type Known, type KnownKey } from '../known.ts';
import type { NotedExchange } from '../engine/events.ts';
import type { Credential } from '../request.ts';

/** A line of one kind. */
export type LineOf<Kind extends TranscriptLine['line']> = Extract<TranscriptLine, { line: Kind }>;

/** What a transcript says, put in order. */
export interface Transcript {
  readonly start: LineOf<'start'>;
  readonly known: Known;
  /** As the engine saw them; keys are placeholders. */
  readonly exchanges: readonly NotedExchange[];
  /** The exchanges, and the lookups without an answer, as they happened. */
  readonly lookups: readonly (NotedExchange | LineOf<'missed'>)[];
  /** By the id of the requirement. */
  readonly explained: ReadonlyMap<string, LineOf<'explained'>>;
  readonly calls: readonly LineOf<'call'>[];
  readonly stopped: ReadonlyMap<string, LineOf<'stopped'>>;
  /** What the run itself made of it. */
  readonly outcomes: ReadonlyMap<string, RequirementResult>;
  /** Missing where the run was cut off. */
  readonly end?: LineOf<'end'>;
}

/**
 * Puts the lines of a transcript in order.
 *
 * @throws Problem with code `usage` if they are not the lines of one run, from its beginning: what is missing
 *   might be what failed
 */
export function readTranscript(lines: readonly TranscriptLine[]): Transcript {
  const [start] = lines;
  if (start?.line !== 'start')
    throw new Problem('usage', 'the first line of a transcript is its start line; this is another one');
  checkOrder(lines);
  const restored = restorer(start.fixture);
  const known = knowledge(restored(start).fixture, start.partner);
  const linesOf = <Kind extends TranscriptLine['line']>(kind: Kind) =>
    lines.filter((line): line is LineOf<Kind> => line.line === kind);
  const exchanges = linesOf('exchange').map((line) => exchangeOf(restored(line), known));
  const results = linesOf('outcome').map(({ result }) => result as unknown as RequirementResult);
  return {
    start,
    known,
    exchanges,
    lookups: lines.flatMap((line): (NotedExchange | LineOf<'missed'>)[] => {
      if (line.line === 'exchange') return [exchanges[line.n]!];
      return line.line === 'missed' ? [line] : [];
    }),
    explained: new Map(linesOf('explained').map((line) => [line.of, line])),
    calls: linesOf('call').toSorted((a, b) => a.nth - b.nth),
    stopped: new Map(linesOf('stopped').map((line) => [line.of, line])),
    outcomes: new Map(results.map((result) => [result.id, result])),
    ...defined({ end: linesOf('end')[0] }),
  };
}

/** Sees to it that lines are those of one run, from its beginning. */
function checkOrder(lines: readonly TranscriptLine[]): void {
  const seen = new Set<string>();
  let exchanges = 0;
  for (const [at, line] of lines.entries()) {
    if (lines[at - 1]?.line === 'end') throw notWhole('has lines after its end line');
    if (line.line === 'end' && line.lines !== at)
      throw notWhole(`has ${at} of ${line.lines} lines before its end line`);
    if (line.line === 'exchange' && line.n !== exchanges++)
      throw notWhole(`lacks exchange ${exchanges - 1}, or has it in another place`);
    const name = nameOf(line);
    if (seen.has(name)) throw notWhole(`has this twice: ${name}`);
    seen.add(name);
  }
}

/** What no two lines of one run have in common. */
function nameOf(line: TranscriptLine): string {
  if (line.line === 'exchange') return `exchange ${line.n}`;
  if (line.line === 'missed') return `missed ${line.path}`;
  if (line.line === 'call') return `call ${line.nth} of ${line.of}`;
  if (line.line === 'outcome') return `outcome of ${String(line.result['id'])}`;
  return 'of' in line ? `${line.line} of ${line.of}` : line.line;
}

const notWhole = (what: string) =>
  new Problem(
    'usage',
    `the transcript was changed after its run: it ${what}; use the file that \`verify\` wrote`,
  );

/**
 * A function that puts a key of our own in the place of each name of one. It needs no escape in a URL, JSON or a
 * shell.
 */
function restorer({ apiKeys = [] }: Fixture): <Line>(line: Line) => Line {
  const names = keyNames(apiKeys).map((name) => JSON.stringify(name).slice(1, -1));
  const placeholders = new Map(
    names.map((name) => [name, createHash('sha256').update(name).digest('hex').slice(0, 32)]),
  );
  const pattern = new RegExp(
    names.map((name) => name.replace(/[^\w ]/g, String.raw`\$&`)).join('|') || '$^',
    'g',
  );
  return <Line>(line: Line) =>
    JSON.parse(JSON.stringify(line).replace(pattern, (name) => placeholders.get(name)!)) as Line;
}

function exchangeOf(
  { request, answer, trouble, n: _, line: __, ...rest }: TranscriptExchange,
  { everyKey }: Known,
): NotedExchange {
  const { credential, misplaced, ...sent } = request;
  const keyOf = (value: string | undefined) => everyKey.find(({ key }) => key === value);
  return {
    ...rest,
    request: {
      ...sent,
      ...defined({ misplaced: keyOf(misplaced) }),
      credential: credentialOf(credential, keyOf(credential.key)),
    },
    reply: answer === undefined ? { kind: 'trouble', ...trouble! } : answerOf(answer),
  };
}

const answerOf = ({ headers, notJson, ...rest }: NonNullable<TranscriptExchange['answer']>): Answer => ({
  kind: 'answer',
  ...rest,
  headers: Object.assign(Object.create(null), headers) as Answer['headers'],
  json: notJson === undefined ? readJson(rest.text) : { ok: false, why: notJson },
});

function credentialOf(
  { as, scheme, shell = '' }: TranscriptExchange['request']['credential'],
  key: KnownKey | undefined,
): Credential {
  if (as === 'key' && key !== undefined) return { as, key, ...defined({ scheme }) };
  if (as === 'header') return { as, value: headerValue(shell, key), shell, ...defined({ key }) };
  return { as: as === 'none' ? 'none' : 'caller' };
}

/**
 * What a shell would make of it, as far as that needs no shell. A part of the key holds it whole, as does the answer
 * that repeats the part: a transcript has the key's name for both. It must not be read as the key itself.
 */
const headerValue = (shell: string, key: KnownKey | undefined) =>
  key === undefined
    ? shell
    : shell
        .replace(/\$\{IB_API_KEY[^}]*\}/g, () => `part-of-${key.key}`)
        .replaceAll('$IB_API_KEY', () => key.key);
