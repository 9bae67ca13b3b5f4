import { endpointNames, endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { decodeText } from './behaviour.ts';
import type { JournalLine as Entry } from './journal.ts';
import { readQuery, splitTarget } from './handler.ts';

interface Evidence {
  readonly times: number;
  readonly broken: readonly Entry[];
}

export interface Rule {
  readonly id: string;
  /** What a client that follows the rule did. */
  readonly title: string;
  readonly clause: string;
  readonly advice: string;
  /** What the journal must contain to judge the rule. */
  readonly needs: string;
  /** Requests up to `graceMs` after an answer may have been in flight. */
  readonly judge: (entries: readonly Entry[], graceMs: number) => Evidence;
}

export type Outcome =
  | { readonly kind: 'kept'; readonly times: number }
  | { readonly kind: 'broken'; readonly entries: readonly Entry[] }
  | { readonly kind: 'notSeen' };

export interface Grade {
  readonly rule: Omit<Rule, 'judge'>;
  readonly outcome: Outcome;
}

export type Scorecard = readonly Grade[];

/** Requests that a nearby client sends together arrive within this time. */
const GRACE_MS = 250;
/** A wait may be too short by this much, because clocks are coarse. */
const CLOCK_TOLERANCE_MS = 100;
/** Other requests that may follow a 429: parallel workers without a 429 of their own. */
const MAX_WORKERS = 32;
/** A wait of this length may be the client's maximum. */
const PATIENT_MS = 30_000;
/** This many even waits are not a random back-off. */
const MIN_EVEN_GAPS = 5;
/** Lookups of an EXECUTED deposit that may follow the first 200, for example by another part of the client. */
const MAX_EXTRA_LOOKUPS = 2;
/** A poll is hasty within this time after the previous one. A few hasty polls may be workers or tests. */
const HASTY_MS = 100;
const MAX_HASTY = 32;
/** Requests that may follow the first 400 or 401: retries, and tests of the error. */
const MAX_REFUSED = 10;

const isAfterGrace = (entry: Entry, answer: Entry, graceMs: number) =>
  entry.elapsedMs - answer.elapsedMs > graceMs;

/** Returns the ms that a client waited. The mock's clock may have been moved, so the longer time counts. */
const waitMs = (from: Entry, to: Entry) => Math.max(to.at - from.at, to.elapsedMs - from.elapsedMs);

/** Whether the client got the whole answer in time. All chaos but a status prevents this. */
const isComplete = ({ chaos }: Entry) => chaos === undefined || /^\d{3}$/.test(chaos);

function endpointOf({ endpoint, target }: Entry): Endpoint | undefined {
  const { path } = splitTarget(target);
  return endpoint ?? endpointNames.find((name) => path.endsWith(endpoints[name].path));
}

const isLookup = (entry: Entry) => endpointOf(entry) !== undefined;

const callerOf = ({ credentialDigest, key }: Entry) => credentialDigest ?? key;

function depositOf(entry: Entry): string | undefined {
  if (endpointOf(entry) !== 'deposit-check') return undefined;
  const parameters = readQuery(splitTarget(entry.target).query, decodeText);
  return parameters.find(([name]) => name === endpoints['deposit-check'].parameter)?.[1].toLowerCase();
}

type PartsOf = (entry: Entry) => readonly (string | undefined)[];
const sameCaller: PartsOf = (entry) => [callerOf(entry)];
const sameEndpoint: PartsOf = (entry) => [callerOf(entry), endpointOf(entry)];
const sameRequest: PartsOf = (entry) => [...sameEndpoint(entry), entry.method, entry.target];
const sameDeposit: PartsOf = (entry) => [callerOf(entry), depositOf(entry)];

/**
 * Groups entries by world and `partsOf`, in their order. Leaves out entries with an undefined part and answers
 * requested by Prefer. When the clock of a world goes back, new groups begin: earlier waits no longer apply.
 */
function groupBy(entries: readonly Entry[], partsOf: PartsOf) {
  const groups = new Map<string, Entry[]>();
  const clocks = new Map<string, { readonly at: number; readonly turn: number }>();
  for (const entry of entries.toSorted((one, other) => one.id - other.id)) {
    const { at = entry.at, turn = 0 } = clocks.get(entry.world) ?? {};
    const now = { at: entry.at, turn: entry.at < at ? turn + 1 : turn };
    clocks.set(entry.world, now);
    const parts = partsOf(entry);
    if (parts.includes(undefined) || entry.preferred !== undefined) continue;
    const name = JSON.stringify([entry.world, now.turn, ...parts]);
    const group = groups.get(name) ?? [];
    group.push(entry);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Returns runs of entries with a status, in groups like those of `groupBy`. */
const runsWith = (status: number, entries: readonly Entry[], partsOf: PartsOf) =>
  groupBy(entries, partsOf).flatMap((group) => splitAt(group, (entry) => entry.status !== status));

function splitAt(entries: readonly Entry[], ends: (entry: Entry) => boolean): readonly Entry[][] {
  const runs: Entry[][] = [[]];
  for (const entry of entries)
    if (ends(entry)) runs.push([]);
    else runs.at(-1)!.push(entry);
  return runs;
}

/** Judges runs: more than `allowed` entries after the first one and the grace time break the rule. */
function judgeRuns(runs: readonly (readonly Entry[])[], allowed: number, graceMs: number): Evidence {
  const broken = runs.flatMap(([first, ...others]) => {
    const after = others.filter((entry) => isAfterGrace(entry, first!, graceMs));
    return after.length > allowed ? after : [];
  });
  return { times: runs.filter((run) => run.length > 0).length, broken };
}

const isRateLimited = (entry: Entry) =>
  entry.status === 429 && entry.retryAfterSeconds !== undefined && isComplete(entry);

const waitIsOver = (answer: Entry, entry: Entry) =>
  waitMs(answer, entry) >= (answer.retryAfterSeconds ?? 0) * 1000 - CLOCK_TOLERANCE_MS;

/** Returns the 429s after which the client waited. Leaves out a 429 to a request that was repeated at once. */
const waitedFor = (entries: readonly Entry[], graceMs: number) =>
  entries.filter((answer, index) => {
    const [before, next] = [entries[index - 1], entries[index + 1]];
    if (!isRateLimited(answer) || next === undefined || !waitIsOver(answer, next)) return false;
    const isSame = before !== undefined && isRateLimited(before) && before.target === answer.target;
    return !isSame || isAfterGrace(answer, before, graceMs);
  });

function earlyRetries(entries: readonly Entry[], graceMs: number): readonly Entry[] {
  // Another answer than 429 shows that the limit has ended, except after a 429 by chaos.
  const inForce = (answer: Entry, entry: Entry) => entry.status === 429 || answer.chaos !== undefined;
  // Drop ended waits: a long journal may have thousands of 429s.
  const held: Entry[] = [];
  return entries.filter((entry) => {
    while (held[0] !== undefined && waitIsOver(held[0], entry)) held.shift();
    const isEarly = held.some(
      (answer) =>
        inForce(answer, entry) && isAfterGrace(entry, answer, graceMs) && !waitIsOver(answer, entry),
    );
    if (isRateLimited(entry)) held.push(entry);
    return isEarly;
  });
}

function repeatedRefusals(entries: readonly Entry[], graceMs: number): readonly Entry[] {
  const runs: [Entry, ...Entry[]][] = [];
  for (const entry of entries.filter(isRateLimited)) {
    const run = runs.at(-1);
    if (run === undefined || waitIsOver(run[0], entry)) runs.push([entry]);
    else run.push(entry);
  }
  return judgeRuns(runs, MAX_WORKERS, graceMs).broken;
}

function judgeAttempts(run: readonly Entry[], graceMs: number): Evidence {
  const attempts: Entry[] = [];
  for (const entry of run)
    if (attempts.length === 0 || isAfterGrace(entry, attempts.at(-1)!, graceMs)) attempts.push(entry);
  const gaps = attempts.slice(1).map((entry, index) => waitMs(attempts[index]!, entry));
  const grew = Math.max(...gaps) >= 2 * Math.min(...gaps);
  const askedMs = (index: number) => (attempts[index]!.retryAfterSeconds ?? Infinity) * 1000;
  const wasPatient = gaps.some(
    (ms, index) => ms >= Math.min(askedMs(index) - CLOCK_TOLERANCE_MS, PATIENT_MS),
  );
  if (gaps.length >= 2 && (grew || wasPatient)) return { times: 1, broken: [] };
  return gaps.length < MIN_EVEN_GAPS ? { times: 0, broken: [] } : { times: 1, broken: attempts };
}

const rules: readonly Rule[] = [
  {
    id: 'retry-after',
    title: 'Honoured Retry-After',
    clause: 'Errors, 429',
    advice:
      'after a 429, send nothing with that key to that endpoint for as many seconds as Retry-After says',
    needs: 'a 429 with Retry-After, and a request after that time',
    judge: (entries, graceMs) => {
      const onEndpoint = groupBy(entries, sameEndpoint);
      const broken = new Set([
        ...groupBy(entries, sameRequest).flatMap((group) => earlyRetries(group, graceMs)),
        ...onEndpoint.flatMap((group) => repeatedRefusals(group, graceMs)),
      ]);
      const times = onEndpoint.flatMap((group) => waitedFor(group, graceMs)).length;
      return { times, broken: entries.filter((entry) => broken.has(entry)) };
    },
  },
  {
    id: 'back-off',
    title: 'Backed off after repeated 429s',
    clause: 'Errors, 429',
    advice: 'after each 429 for the same request, double the wait or wait as long as Retry-After says',
    needs: 'the same request refused with 429 three times in a row, or six times at even intervals',
    judge: (entries, graceMs) => {
      const all = runsWith(429, entries, sameRequest)
        .filter((run) => run.every(isComplete))
        .map((run) => judgeAttempts(run, graceMs));
      const times = all.filter((one) => one.times > 0).length;
      return { times, broken: all.flatMap(({ broken }) => broken) };
    },
  },
  {
    id: 'polling',
    title: 'Stopped polling after a deposit was EXECUTED',
    clause: 'States and transitions',
    advice: 'stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED',
    needs: 'a deposit with a 404 and then a 200',
    judge: (entries, graceMs) => {
      // Polling starts with the first 404, and again with a 404 after a 200.
      const runs = groupBy(entries, sameDeposit)
        .flatMap((group) => splitAt(group, ({ status }) => status === 404).slice(1))
        .map((run) => run.filter((entry) => entry.status === 200 && isComplete(entry)));
      return judgeRuns(runs, MAX_EXTRA_LOOKUPS, graceMs);
    },
  },
  {
    id: 'poll-pace',
    title: 'Paused between polls of a deposit',
    clause: 'States and transitions',
    advice: 'wait a second or longer between two polls',
    needs: 'a deposit with two 404s in a row',
    judge: (entries) => {
      const runs = runsWith(404, entries, sameDeposit).filter(({ length }) => length > 1);
      const hasty = runs.map((run) =>
        run.filter((entry, at) => at > 0 && waitMs(run[at - 1]!, entry) < HASTY_MS),
      );
      return { times: runs.length, broken: hasty.flatMap((run) => (run.length > MAX_HASTY ? run : [])) };
    },
  },
  {
    id: 'refused-request',
    title: 'Did not repeat a request that was refused as invalid',
    clause: 'Errors, 400',
    advice: 'stop at a 400 and fix the request: a retry does not make the id valid',
    needs: 'a 400',
    judge: (entries, graceMs) =>
      judgeRuns(runsWith(400, entries.filter(isComplete), sameRequest), MAX_REFUSED, graceMs),
  },
  {
    id: 'refused-key',
    title: 'Did not retry with a refused key',
    clause: 'Authentication 3',
    advice: 'stop at a 401 and alert a person: a retry does not make the key valid',
    needs: 'a 401 to a request with a key',
    judge: (entries, graceMs) => {
      // 405 and 5xx say nothing about the key.
      const asked = entries.filter(
        (entry) => isLookup(entry) && isComplete(entry) && entry.status < 500 && entry.status !== 405,
      );
      return judgeRuns(runsWith(401, asked, sameCaller), MAX_REFUSED, graceMs);
    },
  },
  {
    id: 'key-out-of-url',
    title: 'Kept the key out of the URL',
    clause: 'Authentication 1',
    advice: 'send the key only in the Authorization header, and replace it: URLs are logged',
    needs: 'a request',
    judge: (entries) => ({ times: entries.length, broken: entries.filter(({ keyInTarget }) => keyInTarget) }),
  },
  {
    id: 'authorization',
    title: 'Sent the Authorization header',
    clause: 'Authentication 1',
    advice: 'send `Authorization: Bearer <API_KEY>` with every request',
    needs: 'a GET of an endpoint',
    judge: (entries) => {
      const asked = entries.filter((entry) => isLookup(entry) && entry.method === 'GET');
      // A single request without a key may be a test of the 401.
      const hasKey = asked.some((entry) => callerOf(entry) !== undefined);
      return { times: asked.length, broken: hasKey ? [] : asked };
    },
  },
  {
    id: 'get-only',
    title: 'Sent only GET requests',
    clause: 'Endpoints',
    advice: 'use GET; the interface has no other method',
    needs: 'a request to an endpoint',
    judge: (entries) => {
      // Browsers send OPTIONS on their own.
      const asked = entries.filter((entry) => isLookup(entry) && entry.method !== 'OPTIONS');
      return { times: asked.length, broken: asked.filter(({ method }) => method !== 'GET') };
    },
  },
];

/**
 * Grades a client by its requests. A rule is broken only if nothing else explains them; the constants above say
 * what is tolerated. Clients that share a key and a world get one grade.
 *
 * @param delayMs delay of each answer. Meanwhile, the client may have sent other requests.
 */
export function scorecardOf(entries: readonly Entry[], delayMs = 0): Scorecard {
  return rules.map(({ judge, ...rule }) => {
    const { times, broken } = judge(entries, GRACE_MS + delayMs);
    if (broken.length > 0) return { rule, outcome: { kind: 'broken', entries: broken } };
    return { rule, outcome: times > 0 ? { kind: 'kept', times } : { kind: 'notSeen' } };
  });
}

function scorecardJson(card: Scorecard): string {
  const graded = card.map(({ rule: { id, title, clause, advice, needs }, outcome }) => {
    const named = { id, title, clause, outcome: outcome.kind };
    if (outcome.kind === 'kept') return { ...named, times: outcome.times };
    return outcome.kind === 'notSeen' ? { ...named, needs } : { ...named, advice, requests: outcome.entries };
  });
  return `${JSON.stringify({ rules: graded }, null, 2)}\n`;
}

/** Maximum of entries per broken rule, and of characters of a target, in the text. */
const MAX_SHOWN = 5;
const MAX_TARGET = 200;
/** Control and invisible characters. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

function entryLine({ id, at, method, target, status, reason, keyInTarget }: Entry): string {
  // The journal has no keys. If the target contained one, do not show the rest either.
  const shown = keyInTarget ? `${splitTarget(target).path}?…` : target;
  const cut = [...shown].length > MAX_TARGET ? `${[...shown].slice(0, MAX_TARGET).join('')}…` : shown;
  const time = Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : `${at}`;
  return `#${id} ${time} ${method} ${cut} → ${status} (${reason})`.replaceAll(
    INVISIBLE,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

const outcomeLabels = { kept: 'kept', broken: 'BROKEN', notSeen: 'not seen' } as const;

function gradeLines({ rule, outcome }: Grade): readonly string[] {
  const title = `${outcomeLabels[outcome.kind].padEnd(9)} ${rule.title} (${rule.clause})`;
  if (outcome.kind === 'kept') return [title];
  if (outcome.kind === 'notSeen') return [title, `          needs ${rule.needs}`];
  const more = outcome.entries.length - MAX_SHOWN;
  const details = [
    ...outcome.entries.slice(0, MAX_SHOWN).map(entryLine),
    ...(more > 0 ? [`and ${more} more`] : []),
    `→ ${rule.advice}`,
  ];
  return [title, ...details.map((line) => `          ${line}`)];
}

/** Media type and writer by format. */
export const scorecardFormats = {
  json: { type: 'application/json', write: scorecardJson },
  text: {
    type: 'text/plain; charset=utf-8',
    write: (card: Scorecard) => `${card.flatMap(gradeLines).join('\n')}\n`,
  },
} as const;

export type ScorecardFormat = keyof typeof scorecardFormats;
