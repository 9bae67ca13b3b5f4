import { defined } from '../../schemas/defined.ts';
import { endpointNames } from '../../schemas/endpoints.ts';
import type { Check, Checkup, Fixture } from '../../schemas/generated/types.ts';
import { trouble, type Answer, type Reply } from '../answer.ts';
import { createClient, type Client } from '../engine/client.ts';
import { redactor } from '../engine/evidence.ts';
import { expectedRun } from '../engine/expected-run.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { wireRequest } from '../engine/sender.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { fingerprint, lookupOf, userStatus, type Request } from '../request.ts';
import type { StateHook } from '../scenario-context.ts';
import {
  problem,
  ok,
  judgeClock,
  judgeKey,
  judgeKeyless,
  judgeLimits,
  fixFor,
  fixtureProbes,
  otherService,
  unknown,
  type CheckResult,
  type Probe,
} from './checks.ts';
import { gapsOf } from '../needs.ts';

/** Maximum number of requests to the target. */
export const MAX_REQUESTS = 15;

const MAX_MS = 5000;

/** Maximum length of a check's text, in characters: it may quote an answer. */
const MAX_WORDS = 300;

/** Options of the run that doctor prepares, with the fixture. */
export interface ExamineOptions extends RunOptions {
  readonly fixture: Fixture;
}

/** Checks a target with a few read-only requests, and estimates a run. Never rejects because of the target. */
export async function examine(options: ExamineOptions): Promise<Checkup> {
  const { target, known, clock, stateHook, version, requirements } = options;
  const begun = clock.now();
  const deadline = clock.now() + MAX_MS;
  const client = (options.connect ?? createClient)({
    ...options,
    ...options.tls,
    connections: 4,
    now: clock.now,
    deadline,
  });
  const sender = createSender(options, client, deadline);
  try {
    const [{ checks, answers }, hook] = await Promise.all([
      sendProbes(options, sender),
      stateHook && checkHook(stateHook, known),
    ]);
    const all = hook === undefined ? checks : [...checks, check('state hook', 'teardown', hook)];
    const redact = redactor(known, options.headers);
    const truncated = (words: string) => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
    return {
      format: 'ib-conformance/doctor/1',
      version,
      verdict: verdictOf(all),
      target: redact(target.href),
      ...defined({ partner: known.partner }),
      notes: [...(options.notes ?? [])],
      requests: sender.sent(),
      durationMs: Math.round(clock.now() - begun),
      checks: all.map((one) => ({ ...one, words: truncated(redact(one.words)) })),
      gaps: [...gapsOf(requirements, known, stateHook !== undefined)],
      plan: planOf(options, answers),
    };
  } finally {
    await client.close();
  }
}

const check = (area: Check['area'], subject: string, finding: CheckResult): Check => ({
  area,
  subject,
  ...finding,
});

function verdictOf(checks: readonly Check[]): Checkup['verdict'] {
  const problems = checks.filter(({ outcome }) => outcome === 'problem');
  if (problems.some(({ area }) => area === 'reach')) return 'unreachable';
  return problems.length > 0 ? 'problems' : 'ok';
}

function planOf(options: ExamineOptions, answers: readonly Answer[]): Checkup['plan'] {
  const { requests, durationMs, strength, needs } = expectedRun(options);
  const times = answers.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const answersMs = median && Math.round((requests * median) / options.concurrency);
  const reachable = needs.map((need) => ({
    reaches: need.reaches,
    seconds: need.durationMs / 1000,
    requests: need.requests,
  }));
  return defined({ requests, waitMs: durationMs, answersMs, strength, needs: reachable });
}

type Sender = ReturnType<typeof createSender>;

/** Sends requests within doctor's limits. Beyond them, the reply says why nothing was sent. */
function createSender({ clock, signal }: ExamineOptions, client: Client, deadline: number) {
  const replies = new Map<string, Promise<Reply>>();
  let sent = 0;
  const sendNow = async (request: Request, isAgain = false): Promise<Reply> => {
    if (sent >= MAX_REQUESTS)
      return trouble('budget', `not checked because doctor sends at most ${MAX_REQUESTS} requests`);
    if (clock.now() >= deadline)
      return trouble('budget', `not checked because doctor stops after ${MAX_MS / 1000} s`);
    sent++;
    const reply = await client.send(wireRequest(request));
    if (reply.kind === 'answer') return reply;
    if (signal.aborted) return trouble('interrupted', 'interrupted');
    if (reply.code === 'budget')
      return trouble('budget', `no answer within the ${MAX_MS / 1000} s of doctor`);
    // A server may close an idle connection at any time (RFC 9112 9.3.1).
    return reply.code === 'network' && !isAgain && sent < MAX_REQUESTS ? sendNow(request, true) : reply;
  };
  return {
    sent: () => sent,
    remainingAfter: (requests: readonly Request[]) =>
      Math.max(0, MAX_REQUESTS - sent - requests.filter((one) => !replies.has(fingerprint(one))).length),
    /** Equal requests share one reply. */
    send: (request: Request): Promise<Reply> => {
      const name = fingerprint(request);
      const reply = replies.get(name) ?? sendNow(request);
      replies.set(name, reply);
      return reply;
    },
  };
}

type Probed = Probe & { readonly reply: Reply };

/** Sends lookups without a key, then with the key under test, then for other data and keys. */
async function sendProbes({ fixture, known, target }: ExamineOptions, sender: Sender) {
  const probe = (probes: readonly Probe[]): Promise<readonly Probed[]> =>
    Promise.all(probes.map(async (one) => ({ ...one, reply: await sender.send(one.request) })));
  const keyless = keylessProbes(known);
  const reply = await sender.send(keyless[0]!.request);
  if (reply.kind === 'trouble')
    return {
      checks: [
        check('reach', 'HTTP', problem(reply.words, fixFor(reply.words, target))),
        check('interface', 'everything else', unknown('not checked because there was no HTTP answer')),
      ],
      answers: [],
    };
  const keys = keyProbes(fixture, known);
  const otherKeys = keys.slice(1);
  const first = await probe([...keyless, ...keys.slice(0, 1)]);
  // Do not send further keys to another service.
  const isOtherService = first.every(
    (one) => one.reply.kind === 'answer' && otherService(one.reply) !== undefined,
  );
  const data = known.callerKeys.slice(0, 1).flatMap((key) => fixtureProbes(fixture, known, withKey(key)));
  const room = sender.remainingAfter(data.map(({ request }) => request));
  const rest = isOtherService ? [] : await probe([...data, ...otherKeys.slice(0, room)]);
  const probed = isOtherService
    ? first.filter(({ area }) => area === 'interface').map((one) => ({ ...one, area: 'reach' as const }))
    : [...first, ...rest];
  const notSent = keyless.length + keys.length + data.length - probed.length;
  const why = isOtherService ? 'this is another service' : `doctor sends at most ${MAX_REQUESTS} requests`;
  const withoutOwnLimits = probed.filter((one) => one.hasOwnLimits !== true);
  return {
    answers: answersOf(probed),
    checks: [
      check('reach', 'HTTP', ok(`${reply.status} after ${Math.round(reply.tookMs)} ms`)),
      ...(['reach', 'interface', 'keys', 'fixture'] as const).flatMap((area) =>
        probed.filter((one) => one.area === area).map(checkOf),
      ),
      ...(known.callerKeys.length > 0 ? [] : [check('keys', 'under test', keyMissing)]),
      ...(notSent === 0 ? [] : [check('keys', `${notSent} more`, unknown(`not checked because ${why}`))]),
      check('clock', 'Date', judgeClock(answersOf(probed))),
      check('limits', '429', judgeLimits(answersOf(withoutOwnLimits), known)),
    ],
  };
}

/** Probes with equal requests share one answer. */
const answersOf = (probed: readonly Probed[]): readonly Answer[] => [
  ...new Set(probed.flatMap(({ reply }) => (reply.kind === 'answer' ? [reply] : []))),
];

const keyMissing = problem(
  'the fixture has no active key of a partner, so almost nothing can be checked',
  'Add { "key": "${NAME}", "partner": "…", "state": "active" } to apiKeys. The key is read from the environment variable NAME.',
);

function checkOf({ area, subject, judge, reply }: Probed): Check {
  if (reply.kind === 'answer') return check(area, subject, judge(reply));
  const isFromTarget = reply.code === 'timeout' || reply.code === 'network';
  const fix = 'Check why the target does not answer this request. --timeout waits longer for an answer.';
  return check(area, subject, isFromTarget ? problem(reply.words, fix) : unknown(reply.words));
}

const withKey = (key: KnownKey) => ({ credential: { as: 'key', key } as const });

const keylessProbes = (known: Known): readonly Probe[] =>
  endpointNames.map((endpoint) => ({
    area: 'interface',
    subject: endpoint,
    request: lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } }),
    judge: (answer) => judgeKeyless(endpoint, answer),
  }));

/** The key under test first, then one key of each kind, then the others. */
function keyProbes({ apiKeys = [] }: Fixture, known: Known): readonly Probe[] {
  const id = findableId('user-status', known);
  const kinds = apiKeys.map(({ state, partner }) => `${state} ${partner === null}`);
  const rank = (at: number) => {
    if (known.everyKey[at] === known.callerKeys[0]) return 0;
    return kinds.indexOf(kinds[at]!) === at ? 1 : 2;
  };
  return [...apiKeys.entries()]
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .map(([at, apiKey]) => ({
      area: 'keys',
      subject: known.everyKey[at]!.name,
      request: userStatus(id, withKey(known.everyKey[at]!)),
      judge: (answer) => judgeKey(apiKey, `apiKeys[${at}]`, answer),
      hasOwnLimits: apiKey.limits !== undefined,
    }));
}

/** Checks that the state hook works. Asks it to undo a change that was never made, so nothing changes. */
async function checkHook(hook: StateHook, { pending, callerKeys }: Known): Promise<CheckResult> {
  const [deposit] = pending;
  const key = callerKeys.at(-1);
  if (deposit === undefined && key === undefined)
    return unknown('not checked because the fixture has no pending deposit and no active key');
  try {
    await (deposit === undefined
      ? hook.change('teardown', 'key revoked', { key: key?.key })
      : hook.change('teardown', 'deposit executed', { reference_id: deposit.reference_id }));
    return ok('accepts a teardown');
  } catch (error) {
    const { message, status = 0 } = error as Error & { readonly status?: number };
    // A hook may refuse to undo a change that was never made. These statuses mean that there is no hook.
    return status >= 400 && ![401, 403, 404, 405].includes(status)
      ? unknown(`${message}, but nothing had been set up`)
      : problem(
          message,
          'Give a URL that accepts POST { "state": …, "params": …, "action": "setup" or "teardown" } and answers 2xx when done.',
        );
  }
}
