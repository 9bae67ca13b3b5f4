import type {
  TranscriptAnswer,
  TranscriptCredential,
  TranscriptLine,
  TranscriptRequest,
  TranscriptStart,
  TranscriptTrouble,
} from '../../schemas/generated/types.ts';
import type { Redact } from '../../schemas/redact.ts';
import type { Answer, Reply } from '../answer.ts';
import type { OnEvent, RunEvent } from '../engine/events.ts';
import { redactor } from '../engine/evidence.ts';
import type { Credential, Request } from '../request.ts';
import type { RunHeader } from './run-header.ts';
import { withoutKeys } from './placeholder-keys.ts';

/** Turns what happens in a run into the lines of its transcript. No key is in them. */
export function createTranscriber(header: RunHeader, write: (line: TranscriptLine) => void): OnEvent {
  const redact = redactor(header.known, header.headers);
  const numbers = new WeakMap<Reply, number>();
  let exchanges = 0;
  let lines = 0;

  const numberOf = (reply: Reply): TranscriptReply => {
    const n = numbers.get(reply);
    if (n !== undefined) return n;
    if (reply.kind === 'answer') throw new Error('an answer that no exchange brought');
    return { code: reply.code, words: redact(reply.words) };
  };
  const lineOf: LineOf = {
    start: ({ at }) => startLine(header, at, redact),
    exchange: ({ of, request, reply, path, isAgain, isLost }) => {
      const n = exchanges++;
      numbers.set(reply, n);
      const came =
        reply.kind === 'answer'
          ? { answer: answerLine(reply, redact) }
          : { trouble: { code: reply.code, words: redact(reply.words) } };
      return {
        line: 'exchange',
        n,
        ...(of === undefined ? {} : { of }),
        request: requestLine(request, redact),
        ...came,
        ...(path === undefined ? {} : { path }),
        ...(isAgain === undefined ? {} : { isAgain }),
        ...(isLost === undefined ? {} : { isLost }),
      };
    },
    missed: ({ path, trouble: { code, words } }) => ({
      line: 'missed',
      path,
      trouble: { code, words: redact(words) },
    }),
    explained: ({ of, evidence, path, where, intermittent }) => {
      const n = evidence === undefined ? undefined : numbers.get(evidence.reply);
      return {
        line: 'explained',
        of,
        ...(n === undefined ? {} : { n }),
        ...(path === undefined ? {} : { path }),
        ...(where === undefined ? {} : { where: [...where] }),
        ...(intermittent === undefined ? {} : { intermittent: { ...intermittent } }),
      };
    },
    call: ({ kind: _, call, replies, refused, value, ...rest }) => ({
      line: 'door',
      door: call,
      ...rest,
      // Where time has no bound nothing is written: JSON has no word for it.
      ...(value === undefined || value === Number.POSITIVE_INFINITY ? {} : { value }),
      ...(replies === undefined ? {} : { replies: replies.map(numberOf) }),
      ...(refused === undefined ? {} : { refused: refused.map((answer) => numbers.get(answer)!) }),
    }),
    stopped: ({ of, reason, words }) => ({ line: 'stopped', of, reason, words: redact(words) }),
    outcome: ({ result }) => ({ line: 'outcome', result: { ...result } }),
    end: ({ verdict, figures: { startedAt: _, keyWorks, ...figures } }) => ({
      line: 'end',
      lines,
      verdict,
      ...figures,
      ...(keyWorks === undefined ? {} : { keyWorks }),
    }),
  };
  return (event) => {
    write((lineOf[event.kind] as (one: RunEvent) => TranscriptLine)(event));
    lines++;
  };
}

type TranscriptReply = number | TranscriptTrouble;
type LineOf = {
  readonly [Kind in RunEvent['kind']]: (event: RunEvent & { readonly kind: Kind }) => TranscriptLine;
};

function startLine(header: RunHeader, at: number, redact: Redact): TranscriptStart {
  const { known, version, seed, cases, minStrength, selection, hasStateHook, fixture, canary, rerun } =
    header;
  return {
    line: 'start',
    format: 'ib-conformance/transcript/1',
    version,
    target: redact(header.target),
    ...(known.partner === undefined ? {} : { partner: known.partner }),
    seed,
    cases,
    ...(minStrength === undefined ? {} : { minStrength }),
    startedAt: new Date(at).toISOString(),
    requirements: [...header.requirements],
    selection,
    stateHook: hasStateHook,
    notes: [...(header.notes ?? [])],
    ...(rerun === undefined ? {} : { rerun: redact(rerun) }),
    ...(canary === undefined ? {} : { canary: [...canary] }),
    fixture: withoutKeys(fixture) as Record<string, unknown>,
  };
}

function requestLine(request: Request, redact: Redact): TranscriptRequest {
  const { endpoint, method, target, headers, body, misplaced, credential, isStateChanged } = request;
  return {
    endpoint,
    method,
    target: redact(target),
    headers: redactValues(headers, redact),
    ...(body === undefined ? {} : { body: redact(body) }),
    credential: credentialLine(credential),
    ...(misplaced === undefined ? {} : { misplaced: misplaced.name }),
    ...(isStateChanged === undefined ? {} : { isStateChanged }),
  };
}

function credentialLine(credential: Credential): TranscriptCredential {
  switch (credential.as) {
    case 'key': {
      const { key, scheme } = credential;
      return { as: 'key', key: key.name, ...(scheme === undefined ? {} : { scheme }) };
    }
    case 'header': {
      const { key, shell } = credential;
      return { as: 'header', shell, ...(key === undefined ? {} : { key: key.name }) };
    }
    case 'caller':
    case 'none':
      return { as: credential.as };
  }
}

function answerLine(answer: Answer, redact: Redact): TranscriptAnswer {
  const { status, headers, text, json, sentAt, receivedAt, tookMs } = answer;
  const fields = Object.entries(headers).map(([name, values]) => [redact(name), values.map(redact)]);
  return {
    status,
    headers: Object.fromEntries(fields) as TranscriptAnswer['headers'],
    text: redact(text),
    ...(json.ok ? {} : { notJson: json.why }),
    sentAt,
    receivedAt,
    tookMs,
  };
}

const redactValues = (fields: Readonly<Record<string, string>>, redact: Redact) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redact(value)]));
