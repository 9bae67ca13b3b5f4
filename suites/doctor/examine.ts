import type { Check, Checkup, Fixture } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import { createClient, type Client } from '../engine/client.ts';
import { redactor } from '../engine/evidence.ts';
import { plan } from '../engine/plan.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { fingerprint, lookupOf, userStatus, type Request } from '../request.ts';
import {
  bad,
  check,
  good,
  judgeClock,
  judgeKey,
  judgeKeyless,
  judgeLimits,
  samples,
  strangeService,
  unknown,
  type Finding,
} from './checks.ts';
import { gapsOf } from './gaps.ts';
import { checkHook, late, reach, realNetwork, within, type Network } from './reach.ts';

/** Maximum number of requests to the target. */
export const MAX_REQUESTS = 15;

/** Maximum duration of a checkup, in ms. */
export const MAX_MS = 5000;

/** Maximum length of what a check found: an answer may be of any length. */
const MAX_WORDS = 300;

/** The run that the checkup prepares, and what only a checkup needs. */
export interface ExamineOptions extends RunOptions {
  readonly fixture: Fixture;
  /** The network of this machine by default. */
  readonly network?: Network;
}

/**
 * Checks a target and its fixture with a few requests that change nothing, and says what a run would
 * meet. Never rejects because of the target.
 */
export async function examine(options: ExamineOptions): Promise<Checkup> {
  const { target, known, clock, stateHook, version, requirements } = options;
  const begun = clock.stopwatch();
  const client = (options.connect ?? createClient)({
    ...options,
    ...options.tls,
    connections: 4,
    now: clock.now,
  });
  const sender = createSender(options, client);
  const stepMs = () => Math.min(options.timeoutMs, sender.leftMs());
  try {
    const [{ checks, answers }, hook] = await Promise.all([
      look(options, sender, stepMs),
      stateHook === undefined ? undefined : checkHook(stateHook, known, options, stepMs()),
    ]);
    const all = [...checks, ...(hook === undefined ? [] : [check('state hook', 'teardown', hook)])];
    const redact = redactor(known);
    const shown = (words: string) => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
    return {
      format: 'ib-conformance/doctor/1',
      version,
      verdict: verdictOf(all),
      target: redact(target.href),
      ...(known.partner === undefined ? {} : { partner: known.partner }),
      notes: [...(options.notes ?? [])],
      requests: sender.sent(),
      durationMs: Math.round(clock.stopwatch() - begun),
      checks: all.map((one) => ({ ...one, words: shown(redact(one.words)) })),
      gaps: [...gapsOf(requirements, known, stateHook !== undefined)],
      plan: expectedRun(options, answers),
    };
  } finally {
    await client.close();
  }
}

function verdictOf(checks: readonly Check[]): Checkup['verdict'] {
  const problems = checks.filter(({ outcome }) => outcome === 'bad');
  if (problems.some(({ area }) => area === 'reach')) return 'unreachable';
  return problems.length > 0 ? 'ill' : 'well';
}

function expectedRun(options: ExamineOptions, answers: readonly Answer[]): Checkup['plan'] {
  const { requests, durationMs, cutTo } = plan(options);
  const median = answers.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)[
    Math.floor(answers.length / 2)
  ];
  return {
    requests,
    waitMs: durationMs,
    ...(median === undefined ? {} : { answersMs: Math.round((requests * median) / options.concurrency) }),
    ...(cutTo === undefined ? {} : { cutTo }),
  };
}

/** Sends requests within the bounds of a checkup. */
interface Sender {
  /** Equal requests share one reply. Never rejects: beyond the bounds the reply says why nothing was sent. */
  readonly send: (request: Request) => Promise<Reply>;
  readonly sent: () => number;
  /** Number of requests that are left after these. */
  readonly roomAfter: (requests: readonly Request[]) => number;
  readonly leftMs: () => number;
}

function createSender(options: ExamineOptions, client: Client): Sender {
  const end = options.clock.now() + MAX_MS;
  const leftMs = () => end - options.clock.now();
  const replies = new Map<string, Promise<Reply>>();
  let sent = 0;
  const sendOnce = async ({ method, target, headers, credential }: Request): Promise<Reply> => {
    if (sent >= MAX_REQUESTS) return overBudget(`not asked: no more than ${MAX_REQUESTS} requests are sent`);
    if (leftMs() <= 0) return overBudget(`not asked: ${MAX_MS / 1000} s were up`);
    sent++;
    const authorization = credential.as === 'key' ? { authorization: `Bearer ${credential.key.key}` } : {};
    const wire = { method, target, headers: { ...headers, ...authorization } };
    const reply = await within(options, leftMs(), () => client.send(wire));
    if (reply !== late) return reply;
    return options.signal.aborted
      ? { kind: 'trouble', code: 'interrupted', words: 'interrupted' }
      : overBudget(`no answer before ${MAX_MS / 1000} s were up`);
  };
  const sendTwice = async (request: Request): Promise<Reply> => {
    const reply = await sendOnce(request);
    // A server may close an idle connection at any time (RFC 9112 9.3.1).
    const isBroken = reply.kind === 'trouble' && reply.code === 'network';
    return isBroken && sent < MAX_REQUESTS ? sendOnce(request) : reply;
  };
  return {
    leftMs,
    sent: () => sent,
    roomAfter: (requests) =>
      Math.max(0, MAX_REQUESTS - sent - requests.filter((one) => !replies.has(fingerprint(one))).length),
    send: (request) => {
      const name = fingerprint(request);
      const reply = replies.get(name) ?? sendTwice(request);
      replies.set(name, reply);
      return reply;
    },
  };
}

const overBudget = (words: string): Trouble => ({ kind: 'trouble', code: 'budget', words });

/** A request, and what its answer shows. */
interface Probe {
  readonly area: Check['area'];
  readonly subject: string;
  readonly request: Request;
  readonly judge: (answer: Answer) => Finding;
  /** Whether the key has limits of its own. */
  readonly hasOwnLimits?: boolean;
}

/** A probe with its reply. */
type Probed = Probe & { readonly reply: Reply };

interface Look {
  readonly checks: readonly Check[];
  readonly answers: readonly Answer[];
}

/** Checks in turn: the network, lookups without a key, the key under test, then data and other keys. */
async function look(options: ExamineOptions, sender: Sender, stepMs: () => number): Promise<Look> {
  const { fixture, known, target } = options;
  const network = await reach({ ...options, network: options.network ?? realNetwork, stepMs });
  const http = (finding: Finding) => [...network, check('reach', 'HTTP', finding)];
  const silent = (finding: Finding, why: string): Look => ({
    checks: [...http(finding), check('interface', 'and all else', unknown(why))],
    answers: [],
  });
  if (network.some(({ outcome }) => outcome !== 'good'))
    return silent(unknown('not tried'), 'not asked: the target cannot be reached');
  const probe = (probes: readonly Probe[]): Promise<readonly Probed[]> =>
    Promise.all(probes.map(async (one) => ({ ...one, reply: await sender.send(one.request) })));

  const keyless = keylessProbes(known);
  const reply = await sender.send(keyless[0]!.request);
  if (reply.kind === 'trouble') {
    const orTls = target.protocol === 'http:' ? ', and whether it wants https://' : '';
    const mend = `See whether it is the port of the service${orTls}; --timeout gives an answer longer.`;
    return silent(bad(reply.words, mend), 'not asked: there is no HTTP answer');
  }
  const [keyUnderTest, ...otherKeys] = keyProbes(fixture, known);
  const first = await probe([...keyless, ...(keyUnderTest === undefined ? [] : [keyUnderTest])]);
  // Another service must not see the other keys.
  const isElsewhere = first.every(
    (one) => one.reply.kind === 'answer' && strangeService(one.reply) !== undefined,
  );
  const data = dataProbes(fixture, known);
  const room = sender.roomAfter(data.map(({ request }) => request));
  const rest = isElsewhere ? [] : await probe([...data, ...otherKeys.slice(0, room)]);
  const probed = [...first, ...rest];
  const notAsked = otherKeys.length + data.length - rest.length;
  const why = isElsewhere ? 'this is plainly another service' : 'a look takes a few requests only';
  const withoutOwnLimits = probed.filter((one) => one.hasOwnLimits !== true);
  return {
    answers: answersOf(probed),
    checks: [
      ...http(good(`${reply.status} after ${Math.round(reply.tookMs)} ms`)),
      ...probed.map(checkOf).toSorted((a, b) => areas.indexOf(a.area) - areas.indexOf(b.area)),
      ...(known.callerKeys.length > 0 ? [] : [check('keys', 'under test', keyMissing)]),
      ...(notAsked === 0 ? [] : [check('keys', `${notAsked} more`, unknown(`not asked: ${why}`))]),
      check('clock', 'Date', judgeClock(answersOf(probed))),
      check('limits', '429', judgeLimits(answersOf(withoutOwnLimits), known)),
    ],
  };
}

/** Probes with equal requests share one answer. */
const answersOf = (probed: readonly Probed[]): readonly Answer[] => [
  ...new Set(probed.flatMap(({ reply }) => (reply.kind === 'answer' ? [reply] : []))),
];

/** In the order of the output. */
const areas: readonly Check['area'][] = ['reach', 'interface', 'keys', 'fixture'];

const keyMissing = bad(
  'the fixture has no active key of a partner, so next to nothing can be judged',
  'To apiKeys add { "key": "${NAME}", "partner": "…", "state": "active" }; the key is read from the environment variable.',
);

function checkOf({ area, subject, judge, reply }: Probed): Check {
  if (reply.kind === 'answer') return check(area, subject, judge(reply));
  const isFromTarget = reply.code === 'timeout' || reply.code === 'network';
  const mend = 'See why the target leaves this request without an answer; --timeout gives it longer.';
  return check(area, subject, isFromTarget ? bad(reply.words, mend) : unknown(reply.words));
}

const withKey = (key: KnownKey) => ({ credential: { as: 'key', key } as const });

const keylessProbes = (known: Known): readonly Probe[] =>
  (['user-status', 'deposit-check'] as const).map((endpoint) => ({
    area: 'interface',
    subject: endpoint,
    request: lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } }),
    judge: (answer) => judgeKeyless(endpoint, answer),
  }));

const dataProbes = (fixture: Fixture, known: Known): readonly Probe[] =>
  known.callerKeys.slice(0, 1).flatMap((key) =>
    samples(fixture, known).map(({ place, request, judge }) => ({
      area: 'fixture',
      subject: place,
      request: { ...request, ...withKey(key) },
      judge,
    })),
  );

/** The key under test first, then one key of each kind, then the others. */
function keyProbes(fixture: Fixture, known: Known): readonly Probe[] {
  const kinds = new Set<string>();
  const id = findableId('user-status', known);
  return (fixture.apiKeys ?? [])
    .map((apiKey, index) => {
      const key = known.everyKey[index]!;
      const kind = `${apiKey.state} ${apiKey.partner === null}`;
      const rank = key.name === known.callerKeys[0]?.name ? 0 : kinds.has(kind) ? 2 : 1;
      kinds.add(kind);
      const probe: Probe = {
        area: 'keys',
        subject: key.name,
        request: userStatus(id, withKey(key)),
        judge: (answer) => judgeKey(apiKey, `apiKeys[${index}]`, answer),
        hasOwnLimits: apiKey.limits !== undefined,
      };
      return { probe, rank };
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ probe }) => probe);
}
