import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer, type Reply } from '../answer.ts';
import { idSeenBy, percentEncoded, unknownIds, withLetterCase } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookup, lookupOf, type Changes, type Request } from '../request.ts';
import type { ScenarioResult } from '../requirement.ts';
import type { ChangeTimes, Context, Exchange } from '../scenario-context.ts';
import { blockedBy, failed, inconclusive, judgeReply, pass } from '../verdict.ts';
import { afterHook, askAtOnce, askMeanwhile, resultOf } from './changing.ts';

/** What an endpoint answered while a key was revoked. */
interface Revocation {
  readonly revoked: ScenarioResult;
  /** Of the other keys of the partner. */
  readonly spared: ScenarioResult;
}

type Revocations = Readonly<Record<Endpoint, Revocation>>;

/** A revoked key, and others that must go on working, or should. */
interface Keys {
  readonly revoked: KnownKey;
  readonly sibling: KnownKey | undefined;
  readonly stranger: KnownKey | undefined;
}

/** Lookups with each key that must go on working, or should. */
const LOOKUPS_BESIDE = 8;

/** The key to revoke is one that no other requirement needs, if there is one. */
function chooseKeys({ callerKeys, otherKeys }: Known): Keys {
  const revoked = callerKeys[1] ?? otherKeys[0] ?? callerKeys[0]!;
  const others = [...callerKeys, ...otherKeys].filter((one) => one !== revoked);
  return {
    revoked,
    sibling: others.find(({ partner }) => partner === revoked.partner),
    stranger: others.find(({ partner }) => partner !== revoked.partner),
  };
}

/** Lookups with a key: of an id that exists, in several spellings, and of unknown ones. */
function lookupsWith(key: KnownKey, endpoint: Endpoint, known: Known) {
  const changes = { credential: { as: 'key', key }, isStateChanged: true } as const satisfies Changes;
  const id = idSeenBy(key, endpoint, known);
  const plain = lookupOf(endpoint, id, changes);
  const { parameter } = endpoints[endpoint];
  return {
    existing: [
      plain,
      lookupOf(endpoint, withLetterCase(id, [true]), changes),
      lookupOf(endpoint, withLetterCase(id, [true, false]), changes),
      lookup(endpoint, `${parameter}=${percentEncoded(id, [true, false])}`, changes),
      { ...plain, target: `${plain.target}&page=1` },
      { ...plain, credential: { ...changes.credential, scheme: 'bearer' } },
    ],
    unknown: unknownIds(known, 3).map((one) => lookupOf(endpoint, one, changes)),
  };
}

/** Revokes a key and looks up with it, and with other keys. */
async function revokeKey(
  context: Context,
  known: Known,
  revokedId: (of: Endpoint) => string,
): Promise<Revocations> {
  const keys = chooseKeys(known);
  const { revoked: key } = keys;
  const results: Partial<Record<Endpoint, Revocation>> = {};
  const finish = (endpoint: Endpoint, both: ScenarioResult) =>
    void (results[endpoint] = { revoked: both, spared: both });
  for (const endpoint of endpointNames) {
    const unready = await unreadiness(context, known, key, endpoint, revokedId(endpoint));
    if (unready !== undefined) finish(endpoint, unready);
  }
  const ready = endpointNames.filter((endpoint) => results[endpoint] === undefined);
  if (ready.length === 0) return results as Revocations;
  const failure = await context.withState!({ state: 'key revoked', key }, async (times) => {
    const first = ready.flatMap((endpoint) => {
      const { existing, unknown } = lookupsWith(key, endpoint, known);
      return [existing[0]!, unknown[0]!];
    });
    const meanwhile = await askMeanwhile(context, first, times.dueAt);
    for (const endpoint of ready) {
      const early = meanwhile.filter((one) => one.request.endpoint === endpoint && !isAccepted(one));
      results[endpoint] = await judgeEndpoint(context, known, keys, endpoint, early, times);
    }
    return undefined;
  });
  if (failure !== undefined)
    for (const endpoint of ready) finish(endpoint, { finding: inconclusive(failure.code, failure.words) });
  return results as Revocations;
}

/** Whether a key still worked: while the change is under way, it may, and other rows judge what it shows. */
const isAccepted = ({ reply }: Exchange) =>
  reply.kind === 'answer' && (reply.status < 300 || reply.status === 404);

/** Why a key cannot be revoked on an endpoint; undefined if it can. */
async function unreadiness(
  { send }: Context,
  known: Known,
  key: KnownKey,
  endpoint: Endpoint,
  revokedId: string,
): Promise<ScenarioResult | undefined> {
  // A cache may then have what the key saw.
  const request = lookupOf(endpoint, idSeenBy(key, endpoint, known), { credential: { as: 'key', key } });
  const [reply] = (await send(request)) as [Reply];
  const words = `not checked because ${key.name} got 401 before it was revoked`;
  const ready = judgeReply(reply, ({ status }) =>
    status === 401 ? inconclusive('key-refused', words) : pass,
  );
  // Other lookups have used up the limit of the key, so that it works.
  const isUsedUp = reply.kind === 'trouble' && reply.code === 'rate-limited';
  if (ready.kind !== 'passed' && !isUsedUp) return { finding: ready, request, reply };
  const [revoked] = known.revokedKeys;
  if (revoked === undefined) return undefined;
  const [control] = await send({ ...request, credential: { as: 'key', key: revoked } });
  return control?.kind === 'answer' && control.status !== 401 ? { finding: blockedBy(revokedId) } : undefined;
}

/** Looks up with the revoked key and with others, when the change is due. */
async function judgeEndpoint(
  context: Context,
  known: Known,
  { revoked: key, sibling, stranger }: Keys,
  endpoint: Endpoint,
  early: readonly Exchange[],
  times: ChangeTimes,
): Promise<Revocation> {
  const named = (result: ScenarioResult, graceMs?: number) =>
    afterHook(result, `"key revoked" of ${key.name}`, times, graceMs);
  const { existing, unknown } = lookupsWith(key, endpoint, known);
  const due = [...(await askAtOnce(context, existing)), ...(await askAtOnce(context, unknown))];
  const wrong = (request: Request, answer: Answer) =>
    context.verdictsOn(request, answer).find(({ kind }) => kind === 'failed');
  // A form that lets in keys that were revoked before the run, too, belongs to the row about them.
  const [revokedBefore] = known.revokedKeys;
  const suspect = [...early, ...due].find(
    ({ request, reply }) => reply.kind === 'answer' && wrong(request, reply) !== undefined,
  );
  if (revokedBefore !== undefined && suspect?.request.credential.as === 'key') {
    const { isStateChanged: _, ...request } = suspect.request;
    await context.send({ ...request, credential: { ...suspect.request.credential, key: revokedBefore } });
  }
  const own = resultOf([...early, ...due], (request, answer) =>
    context.failsAnyway(request, answer) ? pass : (wrong(request, answer) ?? pass),
  );
  const beside = async (other: KnownKey, expected: string, changes: Changes = {}) => {
    const id = idSeenBy(other, endpoint, known);
    const request = lookupOf(endpoint, id, { ...changes, credential: { as: 'key', key: other } });
    return resultOf(await askAtOnce(context, [request], LOOKUPS_BESIDE), (_, answer) =>
      answer.status === 401 ? failed('status', expected, summary(answer)) : pass,
    );
  };
  const others =
    stranger && (await beside(stranger, "no 401 for another partner's key", { isStateChanged: true }));
  // Other rows judge what the key shows.
  const asBefore = 'the answer as before: only another key of the partner was revoked';
  const spared = sibling && (await beside(sibling, asBefore));
  const words = `the fixture has no other active key of ${key.partner}`;
  return {
    revoked:
      own.finding.kind === 'passed' && others?.finding.kind === 'failed'
        ? named(others)
        : named(own, context.graceMs),
    spared: spared ? named(spared) : { finding: inconclusive('no-fixture', words) },
  };
}

/**
 * A key is revoked once per run, for all rows about it.
 *
 * @param revokedId the rows that judge keys that were revoked before the run
 */
export const revocationOf = async (
  endpoint: Endpoint,
  revokedId: (of: Endpoint) => string,
  context: Context,
  known: Known,
): Promise<Revocation> => {
  const all = await context.once('key revoked', (shared) => revokeKey(shared, known, revokedId));
  return all[endpoint];
};
