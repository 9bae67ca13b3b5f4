import { defined } from '../../schemas/defined.ts';
import type {
  Fixture,
  TranscriptAnswer,
  TranscriptExchange,
  TranscriptLine,
} from '../../schemas/generated/types.ts';
import type { Redact } from '../../schemas/redact.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { OnEvent, RunEvent } from '../engine/events.ts';
import { redactedAll, redactor } from '../engine/evidence.ts';
import type { RecordOptions } from '../engine/record.ts';
import type { Request } from '../request.ts';

/** The options of a run: the first line of its transcript. */
export interface RunHeader extends RecordOptions {
  readonly selection: NonNullable<RecordOptions['selection']>;
  readonly fixture: Fixture;
  /** Ids of the selected requirements, in record order. */
  readonly requirements: readonly string[];
  readonly hasStateHook: boolean;
  /** Time that a change may take, in ms. */
  readonly graceMs: number;
}

/** Writes the events of a run as lines of a transcript. Keys are redacted. */
export function createTranscriber(header: RunHeader, write: (line: TranscriptLine) => void): OnEvent {
  const redact = redactor(header.known, header.headers);
  const numbers = new WeakMap<Reply, number>();
  let exchanges = 0;
  let lines = 0;

  const troubleLine = ({ code, words }: Trouble) => ({ code, words: redact(words) });
  const numberOf = (reply: Reply) => {
    const n = numbers.get(reply);
    if (n !== undefined) return n;
    if (reply.kind === 'answer') throw new Error('an answer that no exchange brought');
    return troubleLine(reply);
  };
  const lineOf: {
    readonly [Kind in RunEvent['kind']]: (event: RunEvent & { readonly kind: Kind }) => TranscriptLine;
  } = {
    start: ({ at }) => startLine(header, at, redact),
    exchange: ({ kind: line, request, reply, of, path, isAgain, isLost, isAtOnce }) => {
      const n = exchanges++;
      numbers.set(reply, n);
      const came =
        reply.kind === 'answer' ? { answer: answerLine(reply, redact) } : { trouble: troubleLine(reply) };
      return defined({
        line,
        n,
        of,
        request: requestLine(request, redact),
        ...came,
        path,
        isAgain,
        isLost,
        isAtOnce,
      });
    },
    missed: ({ kind: line, path, request, trouble }) => ({
      line,
      path,
      request: requestLine(request, redact),
      trouble: troubleLine(trouble),
    }),
    explained: ({ kind: line, of, evidence, path, where, suspected, separation, intermittent }) => {
      const n = evidence === undefined ? undefined : numbers.get(evidence.reply);
      const found = { where, suspected, separation: redactedAll(separation, redact), intermittent };
      return defined({ line, of, n, path, ...found }) as TranscriptLine;
    },
    call: ({ of, nth, call, replies, refused, value }) =>
      defined({
        line: 'call' as const,
        of,
        nth,
        call,
        // JSON has no Infinity.
        value: value === Number.POSITIVE_INFINITY ? undefined : value,
        replies: replies?.map(numberOf),
        refused: refused?.map((answer) => numbers.get(answer)!),
      }),
    company: ({ kind: line, of, reply }) => ({ line, of, n: numbers.get(reply)! }),
    change: (event) => {
      const { kind: line, nth, step, at } = event;
      if (event.step !== 'begins') return { line, nth, step, at };
      const { change } = event;
      if (change.state === 'key revoked') return { line, nth, step, at, key: change.key.name };
      const { reference_id, user_id, amountInUsd, executedAt } = change.deposit;
      return { line, nth, step, at, deposit: { reference_id, user_id, amountInUsd, executedAt } };
    },
    stopped: ({ kind: line, of, reason, words }) => ({ line, of, reason, words: redact(words) }),
    outcome: ({ kind: line, result }) => ({ line, result: { ...result } }),
    end: ({ kind: line, verdict, figures: { startedAt: _, ...figures } }) =>
      defined({ line, lines, verdict, ...figures }),
  };
  return (event) => {
    write((lineOf[event.kind] as (one: RunEvent) => TranscriptLine)(event));
    lines++;
  };
}

function startLine(header: RunHeader, startedAt: number, redact: Redact): TranscriptLine {
  const { known, version, seed, cases, minStrength, selection, rerun, fixture, mock } = header;
  const apiKeys = fixture.apiKeys?.map((apiKey, at) => ({ ...apiKey, key: known.everyKey[at]!.name }));
  return defined({
    line: 'start' as const,
    format: 'ib-conformance/transcript/1' as const,
    version,
    target: redact(header.target),
    mock,
    partner: known.partner,
    seed,
    cases,
    minStrength,
    startedAt: new Date(startedAt).toISOString(),
    requirements: [...header.requirements],
    selection,
    stateHook: header.hasStateHook,
    graceMs: header.graceMs,
    notes: [...(header.notes ?? [])],
    rerun: rerun && redact(rerun),
    fixture: defined({ ...fixture, apiKeys }),
  });
}

/** Keys are replaced by their names. A credential contains its shell form, not its value. */
function requestLine(request: Request, redact: Redact): TranscriptExchange['request'] {
  const { credential, misplaced, target, headers, body, ...rest } = request;
  const { value: _, key, ...presented } = { value: undefined, key: undefined, ...credential };
  return defined({
    ...rest,
    ...redactedAll({ target, headers, body }, redact),
    credential: defined({ ...presented, key: key?.name }),
    misplaced: misplaced?.name,
  });
}

function answerLine({ kind: _, json, headers, text, ...rest }: Answer, redact: Redact): TranscriptAnswer {
  const notJson = json.ok ? undefined : json.why;
  const shown = redactedAll({ headers, text }, redact) as Pick<TranscriptAnswer, 'headers' | 'text'>;
  return defined({ ...rest, ...shown, notJson });
}
