import type { Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer } from '../answer.ts';
import { sameAnswer } from '../expectations.ts';
import { formsOfRequests } from '../inputs/forms.ts';
import { forms, otherByte, withAdded, type Token } from '../inputs/credentials.ts';
import { presentedKey } from '../facts-of-request.ts';
import { findableId, idSeenBy } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookupOf, type Credential, type Request } from '../request.ts';
import type { Scenario, ScenarioResult } from '../requirement.ts';
import type { Context } from '../scenario-context.ts';
import { failed, inconclusive, pass, type Verdict } from '../verdict.ts';

/** A longer window of a limiter (ms) leaves room for few requests with another partner's key. */
const LONG_WINDOW_MS = 10_000;

/** Number of forms with another partner's key, if its limiter has a long window. */
const FEW_FORMS = 5;

/** Forms without a key that are in flight together, so that a target that never answers some of them delays no others. */
const AT_ONCE = 16;

/** After so many requests with a key and without an answer in time, the other forms are not tried. */
const MAX_TIMEOUTS = 2;

const noKey = { as: 'none' } as const;
const wrongKey: Credential = { as: 'header', value: 'Bearer no-such-key', shell: 'Bearer no-such-key' };

/**
 * Sends each form of a lookup without a key. Where the key was asked for, or where nothing was shown, also with an unknown
 * key and with another partner's. Only an answer with data is wrong: the interface is silent about everything else.
 */
export const judgeWaysAround =
  (endpoint: Endpoint): Scenario['run'] =>
  async (context, known) => {
    const id = findableId(endpoint, known);
    const plain = lookupOf(endpoint, id);
    const [own] = await context.send(plain);
    if (own?.kind === 'trouble')
      return { finding: inconclusive(own.code, own.words), request: plain, reply: own };
    if (!showsData(own!, id, known))
      return { finding: inconclusive('depends', 'not checked because the plain request shows no data') };
    const keyless = await tryForms(context, known, { plain, credential: noKey });
    if (keyless.wrong !== undefined) return keyless.wrong;
    let { cases } = keyless;
    const [other] = known.otherKeys;
    const others: readonly Credential[] = [
      wrongKey,
      ...(other === undefined ? [] : [{ as: 'key', key: other } as const]),
    ];
    for (const credential of others) {
      const one = await tryForms(context, known, { plain, credential, after: keyless.answers });
      if (one.wrong !== undefined) return { ...one.wrong, cases: cases + (one.wrong.cases ?? 0) };
      cases += one.cases;
    }
    const claimed = other === undefined ? undefined : await tryClaims(context, known, plain, own!, other);
    if (claimed?.wrong !== undefined) return { ...claimed.wrong, cases: cases + claimed.cases };
    cases += claimed?.cases ?? 0;
    const bytes = await tryOtherBytes(context, known, plain);
    if (bytes.wrong !== undefined) return { ...bytes.wrong, cases: cases + bytes.cases };
    cases += bytes.cases;
    return cases > 0
      ? { finding: pass, cases }
      : { finding: inconclusive('network', 'no form of the request was answered'), cases };
  };

/** Judges an answer to another form of a lookup of own data. Without a key of the partner, it shows no data. */
export function judgeForm(known: Known, request: Request, answer: Answer): Verdict | undefined {
  const { key, found } = presentedKey(known, request);
  const isOwn = (key === 'accepted' || key === 'open') && found?.partner === known.partner;
  const text = `${request.target} ${Object.values(request.headers).join(' ')}`.toLowerCase();
  const ids = [...known.members.map((one) => one.user_id), ...known.executed.map((one) => one.reference_id)];
  const id = ids.find((one) => text.includes(one.toLowerCase()));
  // With two ids, the data may be that of the other one.
  const isRepeated = request.target.split('_id=').length > 2;
  if (isOwn || isRepeated || id === undefined || !showsData(answer, id, known)) return undefined;
  return failed('data', 'no data of the partner without its key', summary(answer));
}

interface Tries {
  readonly plain: Request;
  readonly credential: Credential;
  /** The answers without a key, by the name of the form: one that was not found shows nothing with a key either. */
  readonly after?: ReadonlyMap<string, Answer>;
}

async function tryForms(context: Context, known: Known, { plain, credential, after }: Tries) {
  const { endpoint } = plain;
  const id = findableId(endpoint, known);
  const isOther = credential.as === 'key';
  const answers = new Map<string, Answer>();
  const result = (wrong?: ScenarioResult) => ({ answers, cases: answers.size, wrong });
  const [first] = await context.send({ ...plain, credential });
  // Other requirements are about the plain request.
  if (first?.kind !== 'answer' || showsData(first, id, known)) return result();
  const isTried = (name: string) => {
    const before = after?.get(name);
    return after === undefined || (before !== undefined && isReached(before));
  };
  const tried = formsOfRequests.filter(({ name }) => isTried(name));
  const size = after === undefined ? AT_ONCE : 1;
  let timeouts = 0;
  for (let at = 0; at < tried.length; at += size) {
    if (after !== undefined && timeouts === MAX_TIMEOUTS) break;
    if (isOther && answers.size >= FEW_FORMS && context.longestWindowMs(endpoint) > LONG_WINDOW_MS) break;
    const asked = { ...plain, credential };
    const requests = tried
      .slice(at, at + size)
      .map(({ change }): Request => ({ ...asked, ...change(asked) }));
    const replies = await context.sendAtOnce(...requests);
    for (const [nth, reply] of replies.entries()) {
      const [request, { name }] = [requests[nth]!, tried[at + nth]!];
      if (reply.kind === 'trouble' && !['timeout', 'network'].includes(reply.code))
        return result({
          finding: inconclusive(reply.code, reply.words),
          request,
          reply,
          cases: answers.size,
        });
      if (reply.kind === 'trouble' && reply.code === 'timeout') timeouts++;
      if (reply.kind !== 'answer') continue;
      answers.set(name, reply);
      // Requirements about lookups judge what is one.
      if (context.verdictsOn(request, reply).length > 0) continue;
      const isLetIn = request.method === 'HEAD' && !isOther && first.status === 401 && isSuccess(reply);
      if (!isLetIn && !showsData(reply, id, known)) continue;
      const whose = isOther ? "with another partner's key" : 'without a valid key';
      const expected = isLetIn ? 'no 2xx, because GET gets 401' : 'no data of the partner';
      const finding = failed('data', `${expected} (${name}, ${whose})`, summary(reply));
      return result({ finding, request, reply, cases: answers.size });
    }
  }
  return result();
}

/** Names of parameters and header fields that a server may wrongly read as the partner who asks. */
const partnerNames = ['partner', 'partner_id', 'tenant_id', 'ib_id'] as const;

/** The target of a lookup of an id that the partner of the key sees. */
const seenTarget = ({ endpoint }: Request, key: KnownKey, known: Known): string =>
  lookupOf(endpoint, idSeenBy(key, endpoint, known)).target;

/** Forms of a lookup that claim more than the key of another partner gives: that partner's id besides, or our name. */
function claimsOf(plain: Request, key: KnownKey, known: Known): Readonly<Record<string, Request>> {
  const asked: Request = { ...plain, credential: { as: 'key', key } };
  const seen = seenTarget(plain, key, known);
  const queryOf = (target: string) => target.slice(target.indexOf('?') + 1);
  const partner = encodeURIComponent(known.partner ?? '');
  const named = partnerNames.map((name) => `${name}=${partner}`);
  const fields = partnerNames.map((name) => [`x-${name.replace('_', '-')}`, partner]);
  return {
    'an id of that partner before': { ...asked, target: `${seen}&${queryOf(plain.target)}` },
    'an id of that partner behind': { ...asked, target: `${plain.target}&${queryOf(seen)}` },
    'the partner in the query': { ...asked, target: [plain.target, ...named].join('&') },
    'the partner in header fields': {
      ...asked,
      headers: { ...Object.fromEntries(fields), cookie: named.join('; ') },
    },
  };
}

/** Sends such forms. One may show data of the other partner, so that only our own values are wrong. */
async function tryClaims(
  { send, verdictsOn, longestWindowMs }: Context,
  known: Known,
  plain: Request,
  own: Answer,
  key: KnownKey,
) {
  let cases = 0;
  const claims = Object.entries(claimsOf(plain, key, known));
  const isLong = longestWindowMs(plain.endpoint) > LONG_WINDOW_MS;
  for (const [name, request] of isLong ? claims.slice(0, 1) : claims) {
    const [reply] = await send(request);
    if (reply?.kind === 'trouble' && reply.code === 'timeout') break;
    if (reply?.kind !== 'answer') continue;
    cases++;
    // Requirements about lookups judge what is one.
    const isJudged = verdictsOn(request, reply).length > 0;
    if (isJudged || !showsData(reply, '', known) || sameAnswer(own, reply).kind !== 'passed') continue;
    // The same for either id alone: the other id has the same data, or other requirements are about it.
    const alone = [plain.target, seenTarget(plain, key, known)].map((target) => ({ ...request, target }));
    const replies = await send(...alone);
    if (replies.some((one) => one.kind === 'answer' && sameAnswer(one, reply).kind === 'passed')) continue;
    const expected = `no data of the partner (${name}, with another partner's key)`;
    return { cases, wrong: { finding: failed('data', expected, summary(reply)), request, reply } };
  }
  return { cases };
}

/** Sends the own key with a byte that is not ASCII. If a letter in its place is accepted too, that belongs to near misses. */
async function tryOtherBytes({ send }: Context, known: Known, plain: Request) {
  const key = known.callerKeys[0]!;
  const id = findableId(plain.endpoint, known);
  const sendWith = async (token: Token) => {
    const request: Request = { ...plain, ...forms.Bearer[0](token).changes };
    const [reply] = await send(request);
    return { request, reply, shows: reply?.kind === 'answer' && showsData(reply, id, known) };
  };
  let cases = 0;
  for (const [at, token] of withAdded(key, otherByte).entries()) {
    const { request, reply, shows } = await sendWith(token);
    if (reply?.kind !== 'answer') continue;
    cases++;
    if (!shows || (await sendWith(withAdded(key, 'x')[at]!)).shows) continue;
    const expected = 'no data of the partner (a key with a byte that is not ASCII)';
    const wrong: ScenarioResult = { finding: failed('data', expected, summary(reply)), request, reply };
    return { cases, wrong };
  }
  return { cases };
}

const isSuccess = ({ status }: Answer) => status >= 200 && status < 300;

/** Whether a form may have reached the endpoint: it asked for a key, or refused nothing. */
const isReached = (answer: Answer) => answer.status === 401 || answer.status === 403 || isSuccess(answer);

/** Fields of the interface that show a member or an EXECUTED deposit. */
const shown =
  /"is_under_ib":\s*true|"date_joined":\s*"|"amountInUsd":\s*[-\d]|"executedAt":\s*\d|"status":\s*"EXECUTED"/;

/** Whether an answer shows a member or an EXECUTED deposit, also inside other JSON, or the date of this user. */
function showsData({ text, json }: Answer, id: string, known: Known): boolean {
  const date = known.userById.get(id.toLowerCase())?.date_joined;
  return (
    shown.test(json.ok ? JSON.stringify(json.value) : text) || (date !== undefined && text.includes(date))
  );
}
