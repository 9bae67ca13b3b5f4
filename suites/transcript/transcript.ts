import type {
  Fixture,
  RequirementResult,
  TranscriptDoor,
  TranscriptEnd,
  TranscriptExchange,
  TranscriptExplained,
  TranscriptLine,
  TranscriptMissed,
  TranscriptStart,
  TranscriptStopped,
} from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { readJson, type Answer, type Reply } from '../answer.ts';
import { knowledge, type Known, type KnownKey } from '../known.ts';
import type { Credential, Request } from '../request.ts';
import { createSequence } from './sequence.ts';
import { unnamer, withPlaceholders } from './placeholder-keys.ts';

/** An exchange of a transcript, as the engine saw it; keys are placeholders. */
export interface RecordedExchange {
  readonly request: Request;
  readonly reply: Reply;
  /** The requirement that it was sent for. */
  readonly of?: string;
  /** Leads to the lookup in the covering array. */
  readonly path?: string;
  readonly isAgain?: true;
  readonly isLost?: true;
}

/** What a transcript says, put in order. */
export interface Transcript {
  readonly start: TranscriptStart;
  readonly fixture: Fixture;
  readonly known: Known;
  readonly exchanges: readonly RecordedExchange[];
  /** Lookups without an answer, each with the number of exchanges before it. */
  readonly missed: readonly (TranscriptMissed & { readonly after: number })[];
  /** By the id of the requirement. */
  readonly explained: ReadonlyMap<string, TranscriptExplained>;
  /** By the requirement or the name that several share, in the order of the calls. */
  readonly calls: ReadonlyMap<string, readonly TranscriptDoor[]>;
  readonly stopped: ReadonlyMap<string, TranscriptStopped>;
  /** What the run itself made of it. */
  readonly outcomes: ReadonlyMap<string, RequirementResult>;
  /** Missing where the run was cut off. */
  readonly end?: TranscriptEnd;
  readonly unname: (text: string) => string;
}

/**
 * Puts the lines of a transcript in order.
 *
 * @throws Problem with code `usage` where they are not the lines of one run, from its beginning
 */
export function readTranscript(lines: Iterable<TranscriptLine>): Transcript {
  let heading: Heading | undefined;
  let end: TranscriptEnd | undefined;
  const exchanges: RecordedExchange[] = [];
  const missed: Transcript['missed'][number][] = [];
  const explained = new Map<string, TranscriptExplained>();
  const calls = new Map<string, TranscriptDoor[]>();
  const stopped = new Map<string, TranscriptStopped>();
  const outcomes = new Map<string, RequirementResult>();
  const follow = createSequence();
  for (const line of lines) {
    follow(line);
    if (line.line === 'start') {
      heading = headingOf(line);
      continue;
    }
    if (heading === undefined)
      throw new Problem('usage', 'the first line of a transcript says what was to be done; this is another');
    switch (line.line) {
      case 'exchange':
        exchanges[line.n] = exchangeOf(line, heading);
        break;
      case 'missed':
        missed.push({ ...line, after: exchanges.length });
        break;
      case 'explained':
        explained.set(line.of, line);
        break;
      case 'door':
        append(calls, line.of, line);
        break;
      case 'stopped':
        stopped.set(line.of, line);
        break;
      case 'outcome': {
        const result = line.result as unknown as RequirementResult;
        outcomes.set(result.id, result);
        break;
      }
      case 'end':
        end = line;
    }
  }
  if (heading === undefined) throw new Problem('usage', 'the transcript is empty');
  for (const list of calls.values()) list.sort((a, b) => a.nth - b.nth);
  const content = { exchanges, missed, explained, calls, stopped, outcomes };
  return { ...heading, ...content, ...(end === undefined ? {} : { end }) };
}

interface Heading extends Pick<Transcript, 'start' | 'fixture' | 'known' | 'unname'> {
  readonly keys: ReadonlyMap<string, KnownKey>;
}

function headingOf(start: TranscriptStart): Heading {
  const fixture = withPlaceholders(start.fixture);
  const known = knowledge(fixture, start.partner);
  const keys = new Map(known.everyKey.map((key) => [key.name, key]));
  return { start, fixture, known, keys, unname: unnamer(fixture) };
}

function append<Line>(lists: Map<string, Line[]>, name: string, line: Line): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [line]);
  else list.push(line);
}

function exchangeOf(
  { of, request, answer, trouble, path, isAgain, isLost }: TranscriptExchange,
  heading: Heading,
): RecordedExchange {
  const reply: Reply =
    answer === undefined
      ? { kind: 'trouble', code: trouble!.code, words: trouble!.words }
      : answerOf(answer, heading.unname);
  return {
    request: requestOf(request, heading),
    reply,
    ...(of === undefined ? {} : { of }),
    ...(path === undefined ? {} : { path }),
    ...(isAgain === undefined ? {} : { isAgain }),
    ...(isLost === undefined ? {} : { isLost }),
  };
}

function answerOf(
  { text, headers, notJson, ...rest }: NonNullable<TranscriptExchange['answer']>,
  unname: (text: string) => string,
): Answer {
  const body = unname(text);
  const fields = Object.entries(headers).map(([name, values]) => [unname(name), values.map(unname)] as const);
  return {
    kind: 'answer',
    ...rest,
    headers: Object.assign(Object.create(null), Object.fromEntries(fields)) as Answer['headers'],
    text: body,
    json: notJson === undefined ? readJson(body) : { ok: false, why: notJson },
  };
}

function requestOf(
  { credential, misplaced, body, headers, target, ...rest }: TranscriptExchange['request'],
  { keys, unname }: Heading,
): Request {
  const key = misplaced === undefined ? undefined : keys.get(misplaced);
  return {
    ...rest,
    target: unname(target),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, unname(value)])),
    ...(body === undefined ? {} : { body: unname(body) }),
    ...(key === undefined ? {} : { misplaced: key }),
    credential: credentialOf(credential, keys),
  };
}

function credentialOf(
  { as, key: name, scheme, shell = '' }: TranscriptExchange['request']['credential'],
  keys: ReadonlyMap<string, KnownKey>,
): Credential {
  const key = name === undefined ? undefined : keys.get(name);
  if (as === 'key' && key !== undefined) return { as, key, ...(scheme === undefined ? {} : { scheme }) };
  if (as === 'header')
    return { as, value: headerValue(shell, key), shell, ...(key === undefined ? {} : { key }) };
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
