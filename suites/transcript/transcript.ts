import { createHash } from 'node:crypto';
import { defined } from '../../schemas/defined.ts';
import { namedKeys } from '../../schemas/fixture-keys.ts';
import type {
  Fixture,
  RequirementResult,
  TranscriptExchange,
  TranscriptLine,
  TranscriptRequest,
} from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { readJson, type Answer } from '../answer.ts';
import { knownFrom, type Known, type KnownKey } from '../known.ts';
import type { LineOf, RunExchange } from '../engine/events.ts';
import { withSpare } from '../model/entities.ts';
import type { Credential, Request } from '../request.ts';

/** The content of a transcript. */
export type Transcript = ReturnType<typeof readTranscript>;

/**
 * Reads the lines of a transcript.
 *
 * @throws Problem with code `usage` unless they are the complete lines of one run: a missing line may be a failure
 */
export function readTranscript(lines: readonly TranscriptLine[]) {
  const [start] = lines;
  if (start?.line !== 'start')
    throw new Problem('usage', 'this is not a complete transcript: its first line is not a start line');
  checkOrder(lines);
  const restored = restorer(start.fixture);
  const whole = knownFrom(restored(start).fixture, start.partner);
  const known = start.stateHook ? withSpare(whole) : whole;
  const linesOf = <Kind extends TranscriptLine['line']>(kind: Kind) =>
    lines.filter((line): line is LineOf<Kind> => line.line === kind);
  const exchanges = linesOf('exchange').map((line) => exchangeOf(restored(line), known));
  const results = linesOf('outcome').map(({ result }) => result as unknown as RequirementResult);
  return {
    start,
    known,
    /** As the engine saw them, with placeholders for keys. */
    exchanges,
    /** Exchanges, lookups without an answer and changes, in order. */
    lookups: lines.flatMap((line): (RunExchange | LineOf<'missed' | 'change' | 'company'>)[] => {
      if (line.line === 'exchange') return [exchanges[line.n]!];
      if (line.line === 'change') return [restored(line)];
      if (line.line === 'missed') return [restored(line)];
      return line.line === 'company' ? [line] : [];
    }),
    explained: new Map(linesOf('explained').map((line) => [line.of, line])),
    calls: linesOf('call').toSorted((a, b) => a.nth - b.nth),
    stopped: new Map(linesOf('stopped').map((line) => [line.of, line])),
    outcomes: new Map(results.map((result) => [result.id, result])),
    /** Missing if the run was killed. */
    end: linesOf('end')[0],
  };
}

/** Checks that the lines are those of one run, from its start. */
function checkOrder(lines: readonly TranscriptLine[]): void {
  const seen = new Set<string>();
  let exchanges = 0;
  for (const [at, line] of lines.entries()) {
    if (lines[at - 1]?.line === 'end') throw incomplete('there are lines after its end line');
    if (line.line === 'end' && line.lines !== at)
      throw incomplete(`it has ${at} of ${line.lines} lines before its end line`);
    if (line.line === 'exchange' && line.n !== exchanges++)
      throw incomplete(`exchange ${exchanges - 1} is missing or out of order`);
    const name = nameOf(line);
    if (seen.has(name)) throw incomplete(`it has two lines "${name}"`);
    seen.add(name);
  }
}

/** A name that is unique among the lines of a run. */
function nameOf(line: TranscriptLine): string {
  if (line.line === 'exchange') return `exchange ${line.n}`;
  if (line.line === 'missed') return `missed ${line.path}`;
  if (line.line === 'company') return `company of ${line.of} ${line.n}`;
  if (line.line === 'change') return `change ${line.nth} ${line.step}`;
  if (line.line === 'call') return `call ${line.nth} of ${line.of}`;
  if (line.line === 'outcome') return `outcome of ${String(line.result['id'])}`;
  return 'of' in line ? `${line.line} of ${line.of}` : line.line;
}

const incomplete = (what: string) =>
  new Problem(
    'usage',
    `the transcript was changed after its run: ${what}; use the file that \`verify\` wrote`,
  );

/** Returns a function that replaces each key name by a placeholder key without characters that need escaping. */
function restorer({ apiKeys = [] }: Fixture): <Line>(line: Line) => Line {
  const names = namedKeys(apiKeys).map(({ name }) => JSON.stringify(name).slice(1, -1));
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
  known: Known,
): RunExchange {
  return {
    ...rest,
    request: requestOf(request, known),
    reply: answer === undefined ? { kind: 'trouble', ...trouble! } : answerOf(answer),
  };
}

/** The request of a line, with its keys. */
export function requestOf(
  { credential, misplaced, ...sent }: TranscriptRequest,
  { everyKey }: Known,
): Request {
  const keyOf = (value: string | undefined) => everyKey.find(({ key }) => key === value);
  return {
    ...sent,
    ...defined({ misplaced: keyOf(misplaced) }),
    credential: credentialOf(credential, keyOf(credential.key)),
  };
}

const answerOf = ({ headers, notJson, ...rest }: NonNullable<TranscriptExchange['answer']>): Answer => ({
  kind: 'answer',
  ...rest,
  headers: Object.assign(Object.create(null), headers) as Answer['headers'],
  json: notJson === undefined ? readJson(rest.text) : { ok: false, why: notJson },
});

function credentialOf(
  { as, scheme, shell = '' }: TranscriptRequest['credential'],
  key: KnownKey | undefined,
): Credential {
  if (as === 'key' && key !== undefined) return { as, key, ...defined({ scheme }) };
  if (as === 'header') return { as, value: headerValue(withBytes(shell), key), shell, ...defined({ key }) };
  return { as: as === 'none' ? 'none' : 'caller' };
}

/** The shell form with the bytes that it writes as octal numbers: facts depend on them. */
const withBytes = (shell: string) =>
  shell.replaceAll(/\$\(printf '\\(\d{3})'\)/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/** The header value, from its shell form. A part of the key becomes a longer text: it must not equal the key. */
const headerValue = (shell: string, key: KnownKey | undefined) =>
  key === undefined
    ? shell
    : shell
        .replace(/\$\{IB_API_KEY[^}]*\}/g, () => `part-of-${key.key}`)
        .replaceAll('$IB_API_KEY', () => key.key);
