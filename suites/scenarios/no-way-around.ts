import type { Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Answer, type Reply, type Trouble } from '../answer.ts';
import { sameAnswer } from '../catalogue/expectations.ts';
import { formsOfRequests, type Form } from '../inputs/forms.ts';
import { forms, otherByte, withAdded, type Token } from '../inputs/credentials.ts';
import { presentedKey } from '../catalogue/facts-of-request.ts';
import { findableId, idSeenBy, unknownId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../catalogue/known.ts';
import { lookupOf, type Credential, type Request } from '../request.ts';
import type { Scenario, ScenarioResult } from '../catalogue/requirement.ts';
import type { Context } from '../scenario-context.ts';
import { failed, inconclusive, pass, type Verdict } from '../catalogue/verdict.ts';
import { repeated } from './changing.ts';

/** A longer window of a limiter (ms) leaves room for few requests with another partner's key. */
const LONG_WINDOW_MS = 10_000;

/** Number of forms with another partner's key, if its limiter has a long window. */
const FEW_FORMS = 5;

/** Forms without a key that are in flight together, so that a target that never answers some of them delays no others. */
const AT_ONCE = 16;

/** After so many requests with a key and without an answer in time, the other forms are not tried. */
const MAX_TIMEOUTS = 2;

/** What all tries share. */
interface Tries {
  readonly context: Context;
  readonly known: Known;
  /** The lookup with the own key, and its answer. */
  readonly plain: Request;
  readonly own: Answer;
  /** The forms that may have reached the endpoint without a key: only they may show something with one. */
  readonly reached: Set<Form>;
}

/** Number of answers that were judged, and what ends the scenario. */
interface Tried {
  readonly cases: number;
  readonly end?: ScenarioResult;
}

/**
 * Sends each form of a lookup without a key. Where the key was asked for, or where nothing was shown, also with keys
 * that are not valid and with another partner's. Only an answer with data is wrong: the interface is silent about
 * everything else.
 */
export const judgeWaysAround =
  (endpoint: Endpoint): Scenario['run'] =>
  async (context, known) => {
    const plain = lookupOf(endpoint, findableId(endpoint, known));
    const [own] = await context.send(plain);
    if (own?.kind === 'trouble')
      return { finding: inconclusive(own.code, own.words), request: plain, reply: own };
    if (!showsData(own!, plain, known))
      return { finding: inconclusive('depends', 'not checked because the plain request shows no data') };
    const tries: Tries = { context, known, plain, own: own!, reached: new Set() };
    const [other] = known.otherKeys;
    const steps: readonly (() => Promise<Tried>)[] = [
      () => tryForms(tries, { as: 'none' }),
      ...invalidCredentials(known).map((one) => () => tryForms(tries, one)),
      ...(other === undefined
        ? []
        : [() => tryForms(tries, { as: 'key', key: other }), () => tryClaims(tries, other)]),
      () => tryOtherBytes(tries),
    ];
    let cases = 0;
    for (const step of steps) {
      const tried = await step();
      cases += tried.cases;
      if (tried.end !== undefined) return { ...tried.end, cases };
    }
    return cases > 0
      ? { finding: pass, cases }
      : { finding: inconclusive('network', 'no form of the request was answered'), cases };
  };

/** A key that nobody has, and one that is not valid any more: a form may skip only the check of its state. */
function invalidCredentials({ revokedKeys, expiredKeys }: Known): readonly Credential[] {
  const value = 'Bearer no-such-key';
  const keys = [...revokedKeys, ...expiredKeys].slice(0, 1);
  return [{ as: 'header', value, shell: value }, ...keys.map((key) => ({ as: 'key', key }) as const)];
}

/** Judges an answer to another form of a lookup of own data. Without a key of the partner, it shows no data. */
export function judgeForm(known: Known, request: Request, answer: Answer): Verdict | undefined {
  const { key, found } = presentedKey(known, request);
  const isOwn = (key === 'accepted' || key === 'open') && found?.partner === known.partner;
  const text = `${request.target} ${Object.values(request.headers).join(' ')}`.toLowerCase();
  const ids = [...known.members.map((one) => one.user_id), ...known.executed.map((one) => one.reference_id)];
  const id = ids.find((one) => text.includes(one.toLowerCase()));
  // With two ids, the data may be that of the other one.
  const isRepeated = request.target.split('_id=').length > 2;
  const isShown = id !== undefined && showsData(answer, lookupOf(request.endpoint, id), known);
  if (isOwn || isRepeated || !isShown) return undefined;
  return failed('data', 'no data of the partner without its key', summary(answer));
}

/** Whether a bound of the run left no request: what follows is not tried. */
const isCut = (reply: Reply | undefined): reply is Trouble & { readonly code: 'budget' } =>
  reply?.kind === 'trouble' && reply.code === 'budget';

const cutAt = (request: Request, reply: Trouble, cases: number): Tried => ({
  cases,
  end: { finding: inconclusive(reply.code, reply.words), request, reply },
});

/** Sends the forms with a credential that may not see the data. */
async function tryForms(tries: Tries, credential: Credential): Promise<Tried> {
  const { context, known, plain, reached } = tries;
  const isOther = credential.as === 'key' && known.otherKeys.includes(credential.key);
  const asked = { ...plain, credential };
  const [first] = await context.send(asked);
  if (isCut(first)) return cutAt(asked, first, 0);
  // Other requirements are about the plain request.
  if (first?.kind !== 'answer' || showsData(first, plain, known)) return { cases: 0 };
  const unknown = lookupOf(plain.endpoint, unknownId(known));
  const isKeyless = credential.as === 'none';
  const isLong = context.longestWindowMs(plain.endpoint) > LONG_WINDOW_MS;
  const tried = isKeyless
    ? formsOfRequests
    : [...reached].slice(0, isOther && isLong ? FEW_FORMS : undefined);
  const size = isKeyless ? AT_ONCE : 1;
  const whose = isOther ? "with another partner's key" : 'without a valid key';
  let [cases, timeouts] = [0, 0];
  for (let at = 0; at < tried.length; at += size) {
    if (!isKeyless && timeouts === MAX_TIMEOUTS) break;
    const some = tried.slice(at, at + size);
    const requests = some.map((form) => inForm(form, asked));
    const replies = await context.sendAtOnce(...requests);
    for (const [nth, reply] of replies.entries()) {
      const [request, form] = [requests[nth]!, some[nth]!];
      if (reply.kind === 'trouble') {
        if (reply.code === 'timeout') timeouts++;
        else if (reply.code !== 'network') return cutAt(request, reply, cases);
        continue;
      }
      cases++;
      if (isReached(reply)) reached.add(form);
      // Requirements about lookups judge what is one.
      if (context.verdictsOn(request, reply).length > 0) continue;
      const isLetIn =
        request.method === 'HEAD' &&
        !isOther &&
        first.status === 401 &&
        isSuccess(reply) &&
        (await dependsOnCaller(context, request, reply, [plain.target, unknown.target]));
      const shows = (answer: Answer) => showsData(answer, plain, known);
      const others = [asked, inForm(form, { ...asked, target: unknown.target })];
      const isAround = isLetIn || (shows(reply) && (await isWayAround(context, request, others, shows)));
      if (isAround === false) continue;
      if (isAround !== true) return { cases, end: { finding: isAround, request, reply } };
      const expected = isLetIn ? 'no 2xx, because GET gets 401' : 'no data of the partner';
      const finding = failed('data', `${expected} (${form.name}, ${whose})`, summary(reply));
      return { cases, end: { finding, request, reply } };
    }
  }
  return { cases };
}

const inForm = ({ change }: Form, request: Request): Request => ({ ...request, ...change(request) });

/** Lookups alone that show that it is the form that shows data. */
const LOOKUPS_ALONE = 10;

/**
 * Whether a request shows data also when it is alone, and none of the others do: the lookup that it changes, and the
 * same form of a lookup that has no data. A page with examples shows them for every id. Inconclusive if a limit of the
 * target or of the run leaves that open.
 */
async function isWayAround(
  { send }: Context,
  request: Request,
  others: readonly Request[],
  shows: (answer: Answer) => boolean,
): Promise<boolean | Verdict> {
  let open: Verdict | undefined;
  const isShown = async (some: readonly Request[]) => {
    for (const one of some) {
      const [reply] = await send(one);
      if (reply?.kind === 'answer' && shows(reply)) return true;
      if (reply?.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network')
        open = inconclusive(reply.code, reply.words);
    }
    return false;
  };
  if (await isShown(others)) return false;
  const isShownAlone = (one: Request) => isShown(repeated([one], LOOKUPS_ALONE));
  const isAgain = await isShownAlone(request);
  return isAgain && (await isShownAlone(others[0]!)) ? false : (open ?? isAgain);
}

/** Names of parameters and header fields that a server may wrongly read as the partner who asks. */
const partnerNames = ['partner', 'partner_id', 'tenant_id', 'ib_id'] as const;

/**
 * Sends forms of a lookup that claim more than the key of another partner gives: an id of that partner besides, or our
 * name. One may show data of the other partner, so that only our own values are wrong.
 */
async function tryClaims({ context, known, plain, own }: Tries, key: KnownKey): Promise<Tried> {
  const { endpoint } = plain;
  const asked: Request = { ...plain, credential: { as: 'key', key } };
  const seen = lookupOf(endpoint, idSeenBy(key, endpoint, known)).target;
  const queryOf = (target: string) => target.slice(target.indexOf('?') + 1);
  const partner = encodeURIComponent(known.partner ?? '');
  const named = partnerNames.map((name) => `${name}=${partner}`);
  const fields = partnerNames.map((name) => [`x-${name.replace('_', '-')}`, partner]);
  const claims: Readonly<Record<string, Partial<Request>>> = {
    'an id of that partner before': { target: `${seen}&${queryOf(plain.target)}` },
    'an id of that partner behind': { target: `${plain.target}&${queryOf(seen)}` },
    'the partner in the query': { target: [plain.target, ...named].join('&') },
    'the partner in header fields': {
      headers: { ...Object.fromEntries(fields), cookie: named.join('; ') },
    },
  };
  const isLong = context.longestWindowMs(endpoint) > LONG_WINDOW_MS;
  let cases = 0;
  for (const [name, claim] of Object.entries(claims).slice(0, isLong ? 1 : undefined)) {
    const request = { ...asked, ...claim };
    const [reply] = await context.send(request);
    if (isCut(reply)) return cutAt(request, reply, cases);
    if (reply?.kind === 'trouble' && reply.code === 'timeout') break;
    if (reply?.kind !== 'answer') continue;
    cases++;
    // Requirements about lookups judge what is one.
    const isJudged = context.verdictsOn(request, reply).length > 0;
    if (isJudged || !showsData(reply, plain, known) || sameAnswer(own, reply).kind !== 'passed') continue;
    // The same for either id alone: the other id has the same data, or other requirements are about it.
    const alone = [plain.target, seen].map((target) => ({ ...request, target }));
    const isSame = (answer: Answer) => sameAnswer(answer, reply).kind === 'passed';
    const isAround = await isWayAround(context, request, alone, isSame);
    if (isAround === false) continue;
    if (isAround !== true) return { cases, end: { finding: isAround, request, reply } };
    const expected = `no data of the partner (${name}, with another partner's key)`;
    return { cases, end: { finding: failed('data', expected, summary(reply)), request, reply } };
  }
  return { cases };
}

/** Sends the own key with a byte that is not ASCII. If a letter in its place is accepted too, that belongs to near misses. */
async function tryOtherBytes({ context, known, plain }: Tries): Promise<Tried> {
  const key = known.callerKeys[0]!;
  const sendWith = async (token: Token) => {
    const request: Request = { ...plain, ...forms.Bearer[0](token).changes };
    const [reply] = await context.send(request);
    return { request, reply, shows: reply?.kind === 'answer' && showsData(reply, plain, known) };
  };
  let cases = 0;
  for (const [at, token] of withAdded(key, otherByte).entries()) {
    const { request, reply, shows } = await sendWith(token);
    if (isCut(reply)) return cutAt(request, reply, cases);
    if (reply?.kind !== 'answer') continue;
    cases++;
    if (!shows || (await sendWith(withAdded(key, 'x')[at]!)).shows) continue;
    const expected = 'no data of the partner (a key with a byte that is not ASCII)';
    return { cases, end: { finding: failed('data', expected, summary(reply)), request, reply } };
  }
  return { cases };
}

/** Fields that differ between equal answers anyway. */
const varying = new Set(['date', 'age', 'etag', 'last-modified', 'set-cookie', 'x-request-id', 'cf-ray']);

/** Whether HEAD is answered otherwise with a key, or for another id. A page for everyone shows nothing. */
async function dependsOnCaller(
  { send }: Context,
  request: Request,
  reply: Answer,
  targets: readonly string[],
): Promise<boolean> {
  const others = targets.map((target): Request => ({ ...request, target, credential: { as: 'caller' } }));
  const again = await send(request, ...others, { ...request, target: targets[1]! });
  const [same, ...rest] = again.map((one) => (one.kind === 'answer' ? one : undefined));
  const names = Object.keys(reply.headers).filter(
    (name) => !varying.has(name) && String(same?.headers[name]) === String(reply.headers[name]),
  );
  const textOf = (answer: Answer | undefined) =>
    JSON.stringify([answer?.status, ...names.map((name) => answer?.headers[name])]);
  return rest.some((answer) => textOf(answer) !== textOf(reply));
}

const isSuccess = ({ status }: Answer) => status >= 200 && status < 300;

/** Whether a form may have reached the endpoint: it asked for a key, or refused nothing. */
const isReached = (answer: Answer) => answer.status === 401 || answer.status === 403 || isSuccess(answer);

/** Fields of the interface that show a member or an EXECUTED deposit. */
const shown =
  /"is_under_ib":\s*true|"date_joined":\s*"|"amountInUsd":\s*[-\d]|"executedAt":\s*\d|"status":\s*"EXECUTED"/;

/** Whether an answer shows a member or an EXECUTED deposit, also inside other JSON, or the time of the one asked for. */
function showsData({ text, json }: Answer, plain: Request, known: Known): boolean {
  const time = timeOf(plain, known);
  return (
    shown.test(json.ok ? JSON.stringify(json.value) : text) || (time !== undefined && text.includes(time))
  );
}

/** When the user of a lookup joined, to the second, or when its deposit was executed. */
function timeOf({ target }: Request, { userById, depositById }: Known): string | undefined {
  const id = target.slice(target.indexOf('=') + 1).toLowerCase();
  const deposit = depositById.get(id);
  // A short number may be anything.
  const executedAt =
    deposit?.state === 'EXECUTED' && deposit.executedAt >= 1e9 ? `${deposit.executedAt}` : undefined;
  return executedAt ?? userById.get(id)?.date_joined.slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
}
