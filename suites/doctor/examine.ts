import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Check, Checkup, Fixture } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/values.ts';
import { firstWords, summary, trouble, type Answer, type Reply } from '../answer.ts';
import { table } from '../requirements/catalogue.ts';
import { createClient, type Client } from '../client/client.ts';
import { redactor } from '../judging/evidence.ts';
import { expectedRun } from '../engine/expected-run.ts';
import { isOfService, onlyFrontEnd, otherServiceSign, waitUntilItAnswers } from '../engine/preflight.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { wireRequest } from '../engine/sending.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { withSpare } from '../plan/entities.ts';
import { gapsOf } from '../plan/needs.ts';
import { fingerprint, lookupOf, userStatus, type Request } from '../request.ts';
import {
  checkHook,
  judgeClock,
  judgeLimits,
  ok,
  problem,
  unknown,
  fixFor,
  type Finding,
} from './surroundings.ts';

/** Maximum number of requests, one that is sent again included, and of ms. */
const [MAX_REQUESTS, MAX_MS] = [5 + 3 * endpointNames.length, 5000];

/** Maximum length of a check's text, in characters: it may quote an answer. */
const MAX_WORDS = 300;

/** Options of the run that doctor prepares, with the fixture. */
export interface ExamineOptions extends RunOptions {
  readonly fixture: Fixture;
}

/** A lookup, what it shows, and how a wrong answer is told. */
interface Probe extends Pick<Check, 'area' | 'subject'> {
  readonly request: Request;
  /** Why the answer is expected, such as `because users[0] is a user of the IB`. */
  readonly says: string;
  /** Without it, a wrong answer is no problem of the setup: a run judges it. */
  readonly fix?: string;
}

/**
 * Checks a target with a few read-only lookups, of which at most two count at each limiter, and estimates a run. Never
 * rejects because of the target.
 */
export async function examine(options: ExamineOptions): Promise<Checkup> {
  const { known, clock, stateHook, version, requirements, target } = options;
  await waitUntilItAnswers(options);
  const begun = clock.now();
  const client = (options.connect ?? createClient)({
    ...options,
    ...options.tls,
    connections: 4,
    now: clock.now,
    deadline: begun + MAX_MS,
  });
  let sent = 0;
  const replies = new Map<string, Promise<Reply>>();
  const send = async (request: Request): Promise<Reply> => {
    if (sent >= MAX_REQUESTS)
      return trouble('budget', `not checked because doctor sends at most ${MAX_REQUESTS} requests`);
    sent++;
    let reply = await client.send(wireRequest(request));
    // A server may close an idle connection at any time (RFC 9112 9.3.1).
    if (reply.kind === 'trouble' && reply.code === 'network' && sent < MAX_REQUESTS) {
      sent++;
      reply = await client.send(wireRequest(request));
    }
    if (options.signal.aborted) return trouble('interrupted', 'interrupted');
    const isLate = reply.kind === 'trouble' && reply.code === 'budget';
    return isLate ? trouble('budget', `no answer within the ${MAX_MS / 1000} s of doctor`) : reply;
  };
  /** Equal requests share one reply. */
  const ask = (request: Request): Promise<Reply> => {
    const name = fingerprint(request);
    const reply = replies.get(name) ?? send(request);
    replies.set(name, reply);
    return reply;
  };
  try {
    const hookChecks = async (): Promise<readonly Check[]> =>
      stateHook === undefined
        ? []
        : [{ area: 'state hook', subject: 'teardown', ...(await checkHook(stateHook, known)) }];
    const all = (await Promise.all([checksOf(options, ask, client), hookChecks()])).flat();
    const redact = redactor(known, options.headers);
    const short = (words: string) => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
    const answers = (await Promise.all(replies.values())).filter((one) => one.kind === 'answer');
    return {
      format: 'ib-conformance/doctor/1',
      version,
      verdict: verdictOf(all),
      target: redact(target.href),
      ...defined({ partner: known.partner }),
      notes: [...(options.notes ?? [])],
      requests: sent,
      durationMs: Math.round(clock.now() - begun),
      checks: all.map((one) => ({ ...one, words: short(redact(one.words)) })),
      gaps: [...gapsOf(requirements, known, stateHook !== undefined)],
      plan: planOf(options, answers),
    };
  } finally {
    await client.close();
  }
}

function verdictOf(checks: readonly Check[]): Checkup['verdict'] {
  const problems = checks.filter(({ outcome }) => outcome === 'problem');
  if (problems.some(({ area }) => area === 'reach')) return 'unreachable';
  return problems.length > 0 ? 'problems' : 'ok';
}

function planOf(options: ExamineOptions, answers: readonly Answer[]): Checkup['plan'] {
  const { stateHook } = options;
  const known = stateHook === undefined ? options.known : withSpare(options.known);
  const { requests, durationMs, strength, needs } = expectedRun({ ...options, known });
  const times = answers.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const answersMs = median && Math.round((requests * median) / options.concurrency);
  const reachable = needs.map(({ durationMs: ms, ...need }) => ({ ...need, seconds: ms / 1000 }));
  return defined({ requests, waitMs: durationMs, answersMs, strength, needs: reachable });
}

/** Asks without a key, then with the key under test, then with other keys. */
async function checksOf(
  { known, fixture, target }: ExamineOptions,
  ask: (request: Request) => Promise<Reply>,
  { isProxied }: Pick<Client, 'isProxied'>,
): Promise<readonly Check[]> {
  const keyless = endpointNames.map((endpoint): Probe => ({
    area: 'interface',
    subject: endpoint,
    request: lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } }),
    says: 'without a key',
  }));
  const first = await ask(keyless[0]!.request);
  const reach = (subject: string, finding: Finding): Check => ({ area: 'reach', subject, ...finding });
  const notAsked = { area: 'interface', subject: 'everything else', ...unknown('not checked') } as const;
  if (first.kind === 'trouble')
    return [reach('HTTP', problem(first.words, fixFor(first.words, target))), notAsked];
  const probes = [
    ...keyless,
    ...known.callerKeys.slice(0, 1).flatMap((key) => underTest(key, known, fixture)),
  ];
  const replies = await Promise.all(probes.map(async ({ request }) => ask(request)));
  const way = isProxied?.() === true ? ' through a proxy (HTTP_PROXY, HTTPS_PROXY)' : '';
  const http = reach('HTTP', ok(`${first.status} after ${Math.round(first.tookMs)} ms${way}`));
  const shown = replies.flatMap((reply) => (reply.kind === 'answer' ? [reply] : []));
  if (shown.every((answer) => !isOfService(answer)))
    return [http, reach('service', problem(onlyFrontEnd(shown[0]!), frontEndFix)), notAsked];
  const signs = probes.map(({ request: { endpoint } }, at) => {
    const reply = replies[at]!;
    return reply.kind === 'answer' ? otherServiceSign(reply, endpoint) : undefined;
  });
  // No further key is sent to another service.
  if (signs.every((sign) => sign !== undefined)) {
    const words = `this is another service: ${signs[0]}`;
    return [http, reach('URL', problem(words, fixFor(words, target))), notAsked];
  }
  const others = otherKeys(known);
  const rest = await Promise.all(others.map(async ({ request }) => ask(request)));
  const all = [...replies, ...rest];
  const answers = all.filter((reply) => reply.kind === 'answer');
  return [
    http,
    ...[...probes, ...others].map((probe, at) => checkOf(probe, all[at]!, known)),
    ...(known.callerKeys.length > 0 ? [] : [{ area: 'keys', subject: 'under test', ...keyMissing } as const]),
    { area: 'clock', subject: 'Date', ...judgeClock(answers) },
    { area: 'limits', subject: '429', ...judgeLimits(answers, known) },
  ];
}

const frontEndFix =
  'Start the service behind the proxy or gateway, or let the proxy pass this address. --wait waits until the service answers.';

const brokenFix = 'Look for the cause in the log of the service, or of a proxy or gateway before it.';

const keyMissing = problem(
  'the fixture has no active key of a partner, so almost nothing can be checked',
  'Add { "key": "${NAME}", "partner": "…", "state": "active" } to apiKeys. The key is read from the environment variable NAME.',
);

/** What an endpoint finds. */
type Finds = (typeof endpoints)[Endpoint]['finds'];

/** The key under test, and one entry of each kind: two lookups of each endpoint may count. */
function underTest(key: KnownKey, known: Known, { users = [], deposits = [] }: Fixture): readonly Probe[] {
  const changes = { credential: { as: 'key', key } } as const;
  const entries = (finds: Finds, at: number, is: string, id: string): readonly Probe[] => {
    const place = `${finds}s[${at}]`;
    const fix = `Correct ${place} or the data of the target. If the target has a bug, a run reports it. If several entries differ, check that the key belongs to the partner.`;
    const asked = endpointNames.filter((endpoint) => endpoints[endpoint].finds === finds);
    return asked.map((endpoint) => {
      const request = lookupOf(endpoint, id, changes);
      return { area: 'fixture', subject: place, request, says: `because ${place} is ${is}`, fix };
    });
  };
  const user = (is: string, [one]: Known['members']) =>
    one === undefined ? [] : entries('user', users.indexOf(one), is, one.user_id);
  const deposit = (is: string, [one]: Known['foreignDeposits']) =>
    one === undefined ? [] : entries('deposit', deposits.indexOf(one), is, one.reference_id);
  return [
    ...keyProbes(known, 'active', [key]),
    ...user('a user of the IB', known.members),
    ...user('a user outside the IB', known.foreigners),
    ...deposit('EXECUTED', known.executed),
    ...deposit('pending', known.pending),
  ];
}

/** One key of each other kind. */
const otherKeys = (known: Known): readonly Probe[] => [
  ...keyProbes(known, 'active', known.callerKeys.slice(1)),
  ...keyProbes(known, 'active', known.otherKeys),
  ...keyProbes(known, 'revoked', known.revokedKeys),
  ...keyProbes(known, 'expired', known.expiredKeys),
  ...keyProbes(known, 'of a non-Partner account', known.nonPartnerKeys),
];

/** Asks with the first of these keys. */
function keyProbes(known: Known, is: string, [key]: readonly KnownKey[]): readonly Probe[] {
  if (key === undefined) return [];
  const place = `apiKeys[${known.everyKey.indexOf(key)}]`;
  const fix =
    is === 'active'
      ? `Check that the target has this key and that it is active. If not, correct ${place}.`
      : `Revoke the key on the target, or correct ${place}.`;
  const request = userStatus(findableId('user-status', known), { credential: { as: 'key', key } });
  return [{ area: 'keys', subject: key.name, request, says: `${place} is ${is}`, fix }];
}

/** Judges an answer as a run does. */
function checkOf({ area, subject, request, says, fix }: Probe, reply: Reply, known: Known): Check {
  const check = (finding: Finding): Check => ({ area, subject, ...finding });
  const wrongly = (words: string) => check(fix === undefined ? unknown(words) : problem(words, fix));
  if (reply.kind === 'trouble') {
    const isFromTarget = reply.code === 'timeout' || reply.code === 'network';
    const why = 'Check why the target does not answer this request. --timeout waits longer for an answer.';
    return check(isFromTarget ? problem(reply.words, why) : unknown(reply.words));
  }
  if (reply.status >= 500) return check(problem(`answered ${firstWords(reply)}`, brokenFix));
  if (reply.status === 429) return check(unknown('rate-limited (429), so nothing was checked'));
  const facts = factsOf(known, request);
  const verdicts = facts === undefined ? [] : table.judge(facts, reply, known).map(({ verdict }) => verdict);
  const wrong = verdicts.find(({ kind }) => kind === 'failed');
  if (area === 'keys') {
    // What a key shows belongs to the entries.
    const isRefused = reply.status === 401;
    if (!isRefused && reply.status !== 200) return wrongly(`answered ${summary(reply)}`);
    const isAsStated = isRefused !== says.endsWith(' is active');
    const words = isRefused ? 'refused (401)' : 'accepted (200)';
    return isAsStated ? check(ok(words)) : wrongly(`${words}, but ${says}`);
  }
  if (reply.status === 401 && area === 'fixture')
    return check(unknown('not checked because the key was refused (401)'));
  if (wrong?.kind !== 'failed') return check(ok(`${reply.status}, ${says}`));
  return wrongly(`${wrong.actual}; expected ${wrong.expected}, ${says}`);
}
