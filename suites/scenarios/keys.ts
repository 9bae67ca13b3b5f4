import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer, type Reply } from '../answer.ts';
import {
  findableId,
  idSeenBy,
  percentEncoded,
  unknownIds,
  withLetterCase,
  evenSample,
} from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookup, lookupOf, type Request } from '../request.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking, Changed, Changes, Exchange, Shared } from '../rules/scenario-context.ts';
import { blockedBy, failed, inconclusive, judgeReply, pass, unanswered } from '../rules/verdict.ts';
import {
  afterHook,
  askAtOnce,
  asked,
  askMeanwhile,
  isScarce,
  LOOKUPS_AFTER,
  LOOKUPS_BESIDE,
  resultOf,
} from './changing.ts';

/** Maximum number of keys of the partner under test, and of others. */
const MAX_KEYS = 10;

/**
 * Asks with each active key of the fixture for what its partner sees, and for what the partner under test sees. Rows
 * about lookups judge the data: keys of different partners may see too much, or in another unit.
 */
export const judgeActiveKeys =
  (endpoint: Endpoint) =>
  async (context: Asking, known: Known): Promise<ScenarioResult> => {
    // Under a limit with a long window, each counted lookup is missing later on.
    const ours = isScarce(context, endpoint) ? [] : [findableId(endpoint, known).toLowerCase()];
    const keys = [known.callerKeys, known.otherKeys].flatMap((some) => evenSample(some, MAX_KEYS));
    const requests = keys.flatMap((key) =>
      [...new Set([idSeenBy(key, endpoint, known), ...ours])].map((id) =>
        lookupOf(endpoint, id, { credential: { as: 'key', key } }),
      ),
    );
    return resultOf([], await asked(context.send, requests), ({ credential }, answer) => {
      const name = credential.as === 'key' ? credential.key.name : '';
      const expected = `an answer for ${name}, which the fixture calls active: never 401`;
      return answer.status === 401 ? failed('status', expected, summary(answer)) : pass;
    });
  };

/** What an endpoint answered while a key was revoked. */
interface Revocation {
  readonly revoked: ScenarioResult;
  /** Of the other keys of the partner. */
  readonly spared: ScenarioResult;
}

const plainWith = (key: KnownKey, endpoint: Endpoint, known: Known) =>
  lookupOf(endpoint, idSeenBy(key, endpoint, known), { credential: { as: 'key', key } });

/** The first lookups with a key are plain: so many. */
const PLAIN = 2;

/** Lookups with a key: of an id that exists, in several spellings, and of unknown ones. */
function lookupsWith(key: KnownKey, endpoint: Endpoint, known: Known): readonly [Request, ...Request[]] {
  const changes = { credential: { as: 'key', key } } as const;
  const id = idSeenBy(key, endpoint, known);
  const plain = plainWith(key, endpoint, known);
  const { parameter } = endpoints[endpoint];
  const [unknown, ...more] = unknownIds(known, 2).map((one) => lookupOf(endpoint, one, changes));
  return [
    plain,
    unknown!,
    lookupOf(endpoint, withLetterCase(id, [true]), changes),
    lookupOf(endpoint, withLetterCase(id, [true, false]), changes),
    lookup(endpoint, `${parameter}=${percentEncoded(id, [true, false])}`, changes),
    { ...plain, target: `${plain.target}&page=1` },
    { ...plain, credential: { ...changes.credential, scheme: 'bearer' } },
    { ...plain, cookies: 'of the key' },
    ...more,
  ];
}

/** Revokes a key and looks up with it, and with other keys. */
async function revokeKey(
  context: Asking & Changes,
  known: Known,
  revokedId: (of: Endpoint) => string,
): Promise<ReadonlyMap<Endpoint, Revocation>> {
  // One that no other requirement needs, if there is one.
  const key = known.callerKeys[1] ?? known.otherKeys[0] ?? known.callerKeys[0]!;
  const results = new Map<Endpoint, Revocation>();
  const finish = (endpoint: Endpoint, both: ScenarioResult) =>
    void results.set(endpoint, { revoked: both, spared: both });
  for (const endpoint of endpointNames) {
    const unready = await unreadiness(context, known, key, endpoint, revokedId(endpoint));
    if (unready !== undefined) finish(endpoint, unready);
  }
  const ready = endpointNames.filter((endpoint) => !results.has(endpoint));
  if (ready.length === 0) return results;
  const change = { state: 'key revoked', key } as const;
  const firstLookups = (endpoint: Endpoint) => lookupsWith(key, endpoint, known).slice(0, PLAIN);
  const failure = await context.withState!(change, async (changed) => {
    const early = await askMeanwhile(context, ready.flatMap(firstLookups), changed.dueAt);
    for (const endpoint of ready) {
      const own = early.filter((one) => one.request.endpoint === endpoint && !isAccepted(one));
      results.set(endpoint, await judgeEndpoint(context, known, key, endpoint, own, changed));
    }
    return undefined;
  });
  if (failure !== undefined) for (const endpoint of ready) finish(endpoint, { finding: unanswered(failure) });
  await untilAccepted(context, known);
  return results;
}

/** Whether a key still worked: while the change is under way, it may. */
const isAccepted = ({ reply }: Exchange) =>
  reply.kind === 'answer' && (reply.status < 300 || reply.status === 404);

/** Why a key cannot be revoked on an endpoint; undefined if it can. A cache may then keep what the key saw. */
async function unreadiness(
  context: Asking,
  known: Known,
  key: KnownKey,
  endpoint: Endpoint,
  revokedId: string,
): Promise<ScenarioResult | undefined> {
  const lookups = lookupsWith(key, endpoint, known);
  const [request] = lookups;
  const [reply] = (await context.send(request)) as [Reply];
  const words = `not checked because ${key.name} got 401 before it was revoked`;
  const ready = judgeReply(reply, ({ status }) =>
    status === 401 ? inconclusive('key-refused', words) : pass,
  );
  // Other lookups have used up the limit of the key, so that it works.
  const isUsedUp = reply.kind === 'trouble' && reply.code === 'rate-limited';
  if (ready.kind !== 'passed' && !isUsedUp) return { finding: ready, request, reply };
  const [revoked] = known.revokedKeys;
  if (revoked !== undefined) {
    const [control] = await context.send({ ...request, credential: { as: 'key', key: revoked } });
    if (control?.kind === 'answer' && control.status !== 401) return { finding: blockedBy(revokedId) };
  }
  // What is left of a scarce limit shows later whether the key still works.
  const before = isScarce(context, endpoint) ? lookups.slice(0, PLAIN) : lookups;
  await askAtOnce(context, before, 2 * lookups.length);
  return undefined;
}

/** Looks up with the revoked key and with others, when the change is due. */
async function judgeEndpoint(
  context: Asking,
  known: Known,
  key: KnownKey,
  endpoint: Endpoint,
  early: readonly Exchange[],
  changed: Changed,
): Promise<Revocation> {
  const named = (result: ScenarioResult, graceMs?: number) =>
    afterHook(result, `"key revoked" of ${key.name}`, changed, graceMs);
  const lookups = lookupsWith(key, endpoint, known);
  const askFree = () => askAtOnce(context, lookups, LOOKUPS_AFTER, true);
  // More at once may overload a server.
  const due = [...(await askFree()), ...(await askFree())];
  const wrong = (request: Request, answer: Answer) =>
    context.failsAnyway(request, answer)
      ? pass
      : (context.verdictsOn(request, answer).find(({ kind }) => kind === 'failed') ?? pass);
  const revoked = resultOf(early, due, wrong);
  const others = [...known.callerKeys, ...known.otherKeys].filter((one) => one !== key);
  const sibling = others.find(({ partner }) => partner === key.partner);
  const stranger = others.find(({ partner }) => partner !== key.partner);
  const beside = (other: KnownKey) => askAtOnce(context, [plainWith(other, endpoint, known)], LOOKUPS_BESIDE);
  const ofStranger = stranger && resultOf([], await beside(stranger), wrong);
  const isOthersFault = revoked.finding.kind === 'passed' && ofStranger?.finding.kind === 'failed';
  const asBefore = 'the answer as before: only another key of the partner was revoked';
  // Other rows judge what the key shows.
  const spared =
    sibling &&
    resultOf([], await changed.judged(() => beside(sibling)), (_, answer) =>
      answer.status === 401 ? failed('status', asBefore, summary(answer)) : pass,
    );
  const words = `the fixture has no other active key of ${key.partner}`;
  return {
    revoked: isOthersFault ? named(ofStranger) : named(revoked, context.graceMs),
    spared: spared ? named(spared) : { finding: inconclusive('no-fixture', words) },
  };
}

/** What comes later needs the key under test: waits at most the grace until it is accepted again. */
async function untilAccepted(context: Asking, known: Known): Promise<void> {
  const request = lookupOf('user-status', findableId('user-status', known));
  const endsAt = context.now() + context.graceMs;
  for (;;) {
    // Members do not count at a limiter.
    const isFree = known.members.length > 0;
    const exchanges = await askAtOnce(context, [request], isFree ? LOOKUPS_AFTER : 1, isFree);
    const isRefused = exchanges.some(({ reply }) => reply.kind === 'answer' && reply.status === 401);
    if (!isRefused || context.now() >= endsAt) return;
    await context.wait(context.graceMs / 10, 'change');
  }
}

/**
 * A key is revoked once per run, for all rows about it.
 *
 * @param revokedId the rows that judge keys that were revoked before the run
 */
export const revocationBy = (
  revokedId: (of: Endpoint) => string,
): Shared<ReadonlyMap<Endpoint, Revocation>, Asking & Changes> => ({
  id: 'key revoked',
  phase: 'alone',
  make: (context, known) => revokeKey(context, known, revokedId),
});
