import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer, type Reply } from '../answer.ts';
import { idSeenBy, unknownId, withLetterCase } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import type { ScenarioResult } from '../requirement.ts';
import type { Context, Exchange } from '../scenario-context.ts';
import { blockedBy, failed, inconclusive, judgeReply, pass, type Verdict } from '../verdict.ts';
import {
  afterHook,
  askAtOnce,
  askMeanwhile,
  LOOKUPS_AFTER,
  repeated,
  unanswered,
  wrongOf,
} from './changing.ts';

/** What an endpoint answered while a key was revoked. */
interface Revocation {
  readonly revoked: ScenarioResult;
  /** Of the other keys of the partner. */
  readonly spared: ScenarioResult;
}

type Revocations = Readonly<Record<Endpoint, Revocation>>;

/** Lookups with each key that must go on working, or should. */
const LOOKUPS_BESIDE = 8;

/** The key to revoke: one that no other requirement needs, if there is one. */
const keyToRevoke = ({ callerKeys, otherKeys }: Known): KnownKey =>
  callerKeys[1] ?? otherKeys[0] ?? callerKeys[0]!;

const same = (result: (endpoint: Endpoint) => Revocation): Revocations => ({
  'user-status': result('user-status'),
  'deposit-check': result('deposit-check'),
});

const both = (result: ScenarioResult): Revocation => ({ revoked: result, spared: result });

/** Lookups with a key: of ids that exist, in several spellings, and of unknown ones. */
function lookupsWith(key: KnownKey, endpoint: Endpoint, known: Known) {
  const changes = { credential: { as: 'key', key }, isStateChanged: true } as const;
  const id = idSeenBy(key, endpoint, known);
  const spellings = [id, withLetterCase(id, [true]), withLetterCase(id, [true, false])];
  const credential = { ...changes.credential, scheme: 'bearer' } as const;
  return {
    known: [
      ...spellings.map((one) => lookupOf(endpoint, one, changes)),
      lookupOf(endpoint, id, { ...changes, credential }),
    ],
    unknown: [0, 1, 2].map((nth) => lookupOf(endpoint, unknownId(known, nth), changes)),
  };
}

/** Revokes a key and looks up with it, and with other keys. */
async function revokeKey(
  context: Context,
  known: Known,
  revokedId: (of: Endpoint) => string,
): Promise<Revocations> {
  const key = keyToRevoke(known);
  const keys = [...known.callerKeys, ...known.otherKeys].filter((one) => one !== key);
  const sibling = keys.find(({ partner }) => partner === key.partner);
  const stranger = keys.find(({ partner }) => partner !== key.partner);
  const before = new Map<Endpoint, Revocation>();
  for (const endpoint of endpointNames) {
    const result = await readiness(context, known, key, endpoint, revokedId(endpoint));
    if (result !== undefined) before.set(endpoint, both(result));
  }
  const ready = endpointNames.filter((endpoint) => !before.has(endpoint));
  if (ready.length === 0) return same((endpoint) => before.get(endpoint)!);
  const judgeOne = (request: Request, answer: Answer) =>
    context.verdictsOn(request, answer).find(({ kind }) => kind === 'failed') ?? pass;
  const asked = `"key revoked" of ${key.name}`;
  const after = await context.withState!({ state: 'key revoked', key }, async (times) => {
    const rotating = ready.flatMap((endpoint) => {
      const { known: existing, unknown } = lookupsWith(key, endpoint, known);
      return [existing[0]!, unknown[0]!];
    });
    const meanwhile = await askMeanwhile(context, rotating, times.dueAt);
    for (const endpoint of ready) {
      const { known: existing, unknown } = lookupsWith(key, endpoint, known);
      const own = await askAtOnce(context, [...repeated(existing, LOOKUPS_AFTER)]);
      const others = await askAtOnce(context, [...repeated(unknown, LOOKUPS_AFTER)]);
      const beside = await askBeside(context, stranger, endpoint, known);
      const exchanges = [
        ...meanwhile.filter((one) => one.request.endpoint === endpoint && !isAccepted(one)),
        ...own,
        ...others,
      ];
      const wrong =
        wrongOf(exchanges, judgeOne).find((one) => !context.failsAnyway(one.request, one.reply)) ??
        refusalIn(beside);
      const named = (verdict: Verdict, reply: Reply) =>
        afterHook(verdict, asked, times, context.graceMs, reply);
      const { request, reply } = wrong ?? own[0]!;
      const finding = wrong?.verdict ?? unanswered(own) ?? pass;
      before.set(endpoint, {
        revoked: {
          finding: named(finding, reply),
          request,
          reply,
          cases: exchanges.length,
        },
        spared: judgeSpared(await askBeside(context, sibling, endpoint, known), key, named),
      });
    }
    return undefined;
  });
  if (after !== undefined) return same(() => both({ finding: inconclusive(after.code, after.words) }));
  return same((endpoint) => before.get(endpoint)!);
}

/** Whether a key still worked: while the change is under way, it may, and other rows judge what it shows. */
const isAccepted = ({ reply }: Exchange) =>
  reply.kind === 'answer' && (reply.status < 300 || reply.status === 404);

/** The first 401 for a key that another partner's revocation must not change. */
function refusalIn(exchanges: readonly Exchange[]) {
  const found = exchanges.find(({ reply }) => reply.kind === 'answer' && reply.status === 401);
  return (
    found && { ...found, verdict: failed('status', "no 401 for another partner's key", shown(found.reply)) }
  );
}

/** Why a key cannot be revoked on an endpoint; undefined if it can. */
async function readiness(
  { send }: Context,
  known: Known,
  key: KnownKey,
  endpoint: Endpoint,
  revokedId: string,
): Promise<ScenarioResult | undefined> {
  const request = lookupOf(endpoint, unknownId(known), { credential: { as: 'key', key } });
  const [reply] = (await send(request)) as [Reply];
  const words = `not checked because ${key.name} got 401 before it was revoked`;
  const ready = judgeReply(reply, ({ status }) =>
    status === 401 ? inconclusive('key-refused', words) : pass,
  );
  if (ready.kind !== 'passed') return { finding: ready, request, reply };
  const [revoked] = known.revokedKeys;
  if (revoked === undefined) return undefined;
  const [control] = await send({ ...request, credential: { as: 'key', key: revoked } });
  return control?.kind === 'answer' && control.status !== 401 ? { finding: blockedBy(revokedId) } : undefined;
}

const askBeside = async (
  context: Context,
  key: KnownKey | undefined,
  endpoint: Endpoint,
  known: Known,
): Promise<readonly Exchange[]> => {
  if (key === undefined) return [];
  const request = lookupOf(endpoint, idSeenBy(key, endpoint, known), { credential: { as: 'key', key } });
  return askAtOnce(context, repeated([request], LOOKUPS_BESIDE));
};

/** Other rows judge what the key shows. This one judges whether it is refused. */
function judgeSpared(
  exchanges: readonly Exchange[],
  { partner }: KnownKey,
  named: (verdict: Verdict, reply: Reply) => Verdict,
): ScenarioResult {
  const [first] = exchanges;
  if (first === undefined)
    return { finding: inconclusive('no-fixture', `the fixture has no other active key of ${partner}`) };
  const refusal = refusalIn(exchanges);
  const { request, reply } = refusal ?? first;
  const finding =
    refusal === undefined
      ? (unanswered(exchanges) ?? pass)
      : failed(
          'status',
          'the answer as before: only another key of the partner was revoked',
          shown(refusal.reply),
        );
  return { finding: named(finding, reply), request, reply, cases: exchanges.length };
}

const shown = (reply: Reply) => (reply.kind === 'answer' ? summary(reply) : reply.words);

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
