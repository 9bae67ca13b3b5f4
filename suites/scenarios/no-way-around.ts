import type { Endpoint } from '../../schemas/endpoints.ts';
import { header, summary, type Answer, type Trouble } from '../answer.ts';
import { sameAnswer } from '../rules/expectations.ts';
import { compressed, formsOfRequests, type Form } from '../inputs/forms.ts';
import { forms, otherByte, withAdded, type Token } from '../inputs/credentials.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import { findableId, idSeenBy, unknownId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookupOf, queryOf, type Credential, type Request } from '../request.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking } from '../rules/scenario-context.ts';
import { failed, inconclusive, pass, type Verdict, unanswered } from '../rules/verdict.ts';
import { isScarce } from './changing.ts';
import { repeated } from '../../schemas/values.ts';

/** Number of forms with another partner's key, if the window of its limiter is long. */
const FEW_FORMS = 5;

/** Forms without a key that are in flight together, so that a target that never answers some of them delays no others. */
const AT_ONCE = 16;

/** After so many requests with a key and without an answer in time, the other forms are not tried. */
const MAX_TIMEOUTS = 2;

/** What all tries share. */
interface Tries {
  readonly context: Asking;
  readonly known: Known;
  /** The lookup with the own key, and its answer. */
  readonly plain: Request;
  readonly own: Answer;
  /** The forms that may have reached the endpoint without a key: only they may show something with one. */
  readonly reached: Set<Form>;
  /** Number of answers that were judged. */
  cases: number;
}

/** What ends the scenario: a way that shows data, or a limit. */
type End = ScenarioResult | undefined;

/** A request that may show no data of the partner. */
interface Way {
  /** How it is written, and with whose key. */
  readonly name: string;
  readonly request: Request;
  /** What it changes: if one of these shows data too, it is not the way that shows it. */
  readonly others: readonly [Request, ...Request[]];
  readonly form?: Form;
  /** Whether it may not get a 2xx, even without data. */
  readonly isRefused?: boolean;
  readonly shows: (answer: Answer) => boolean;
}

/**
 * Sends each form of a lookup without a key. Where the key was asked for, or where nothing was shown, also with keys
 * that are not valid and with another partner's. Only an answer with data is wrong: the interface is silent about
 * everything else.
 */
export const judgeWaysAround =
  (endpoint: Endpoint) =>
  async (context: Asking, known: Known): Promise<ScenarioResult> => {
    const plain = lookupOf(endpoint, findableId(endpoint, known));
    const [own] = await context.send(plain);
    if (own?.kind === 'trouble') return { finding: unanswered(own), request: plain, reply: own };
    if (!showsData(own!, plain, known))
      return { finding: inconclusive('depends', 'not checked because the plain request shows no data') };
    // A cache may keep that HEAD has no body, and compressed answers. Rows about lookups judge what it shows of them.
    await context.send({ ...plain, method: 'HEAD' }, plain, inForm(compressed, plain));
    const tries: Tries = { context, known, plain, own: own!, reached: new Set(), cases: 0 };
    let end: End;
    for (const credential of credentialsOf(known)) end ??= await tryForms(tries, credential);
    end ??= await tryWays(tries, tagsOf(tries));
    for (const other of known.otherKeys.slice(0, 1)) end ??= await tryWays(tries, claimsOf(tries, other));
    end ??= await tryWays(tries, oddKeysOf(tries));
    const { cases } = tries;
    if (cases === 0) end ??= { finding: inconclusive('network', 'no form of the request was answered') };
    return { finding: pass, ...end, cases };
  };

const UNKNOWN = 'Bearer no-such-key';

/** Keys that may not show the data. Of one that is not valid any more, a form may skip only the check of its state. */
function credentialsOf({ revokedKeys, expiredKeys, otherKeys }: Known): readonly Credential[] {
  const keys = [...[...revokedKeys, ...expiredKeys].slice(0, 1), ...otherKeys.slice(0, 1)];
  return [
    { as: 'none' },
    { as: 'header', value: UNKNOWN, shell: UNKNOWN },
    ...keys.map((key) => ({ as: 'key', key }) as const),
  ];
}

/** Judges an answer to another form of a lookup of own data. Without a key of the partner, it shows no data. */
export function judgeForm(known: Known, request: Request, answer: Answer): Verdict | undefined {
  const { key, found } = presentedKey(known, request);
  const isAccepted = key === 'accepted' || key === 'open';
  const isOwn = isAccepted && found?.partner === known.partner;
  const text = `${request.target} ${Object.values(request.headers).join(' ')}`.toLowerCase();
  const ids = [...known.members.map((one) => one.user_id), ...known.executed.map((one) => one.reference_id)];
  const id = ids.find((one) => text.includes(one.toLowerCase()));
  // With two ids, the data may be that of the other one.
  const isRepeated = request.target.split('_id=').length > 2;
  const isShown = id !== undefined && showsData(answer, lookupOf(request.endpoint, id), known);
  if (isOwn || (isAccepted && isRepeated) || !isShown) return undefined;
  return failed('data', 'no data of the partner without its key', summary(answer));
}

/** Sends the forms with a credential that may not see the data. */
async function tryForms(tries: Tries, credential: Credential): Promise<End> {
  const { context, known, plain, reached } = tries;
  const isOther = credential.as === 'key' && known.otherKeys.includes(credential.key);
  const asked = { ...plain, credential };
  const [first] = await context.send(asked);
  if (first?.kind === 'trouble' && first.code === 'budget') return endedBy(asked, first);
  const shows = (answer: Answer) => showsData(answer, plain, known);
  // Other requirements are about the plain request.
  if (first?.kind !== 'answer' || shows(first)) return undefined;
  const unknown = { ...asked, target: lookupOf(plain.endpoint, unknownId(known)).target };
  const whose = isOther ? "with another partner's key" : 'without a valid key';
  const wayOf = (form: Form): Way => ({
    name: `${form.name}, ${whose}`,
    request: inForm(form, asked),
    others: [asked, inForm(form, unknown)],
    form,
    isRefused: !isOther && first.status === 401,
    shows,
  });
  if (credential.as === 'none') return tryWays(tries, formsOfRequests.map(wayOf), AT_ONCE);
  const most = isOther && isScarce(context, plain.endpoint) ? FEW_FORMS : undefined;
  return tryWays(tries, [...reached].slice(0, most).map(wayOf));
}

const inForm = ({ change }: Form, request: Request): Request => ({ ...request, ...change(request) });

/** Sends ways, so many at once, until one shows data. */
async function tryWays(tries: Tries, ways: readonly Way[], atOnce = 1): Promise<End> {
  let timeouts = 0;
  for (let at = 0; at < ways.length; at += atOnce) {
    if (atOnce === 1 && timeouts === MAX_TIMEOUTS) break;
    const some = ways.slice(at, at + atOnce);
    const replies = await tries.context.sendAtOnce(...some.map(({ request }) => request));
    for (const [nth, reply] of replies.entries()) {
      const way = some[nth]!;
      if (reply.kind === 'answer') {
        const finding = await judgeWay(tries, way, reply);
        if (finding !== undefined) return { finding, request: way.request, reply };
      } else if (reply.code === 'timeout') timeouts++;
      // A limit that others have used up leaves out claims, not forms.
      else if (reply.code === 'budget' || (reply.code !== 'network' && way.form !== undefined))
        return endedBy(way.request, reply);
    }
  }
  return undefined;
}

const endedBy = (request: Request, reply: Trouble): ScenarioResult => ({
  finding: unanswered(reply),
  request,
  reply,
});

/** Judges the answer to a way; undefined if it shows no data. */
async function judgeWay(tries: Tries, way: Way, reply: Answer): Promise<Verdict | undefined> {
  const { name, request, form, isRefused = false } = way;
  tries.cases++;
  if (form !== undefined && isReached(reply)) tries.reached.add(form);
  // Requirements about lookups judge what is one.
  if (tries.context.verdictsOn(request, reply).length > 0) return undefined;
  const wrong = (expected: string) => failed('data', `${expected} (${name})`, summary(reply));
  const isLetIn = isRefused && request.method === 'HEAD' && isSuccess(reply);
  if (isLetIn && (await dependsOnCaller(tries, request, reply))) return wrong('no 2xx, because GET gets 401');
  if (!way.shows(reply)) return undefined;
  const isAround = await isWayAround(tries.context, way);
  if (typeof isAround !== 'boolean') return isAround;
  return isAround ? wrong('no data of the partner') : undefined;
}

/** Lookups alone that show that it is the form that shows data. */
const LOOKUPS_ALONE = 10;

/**
 * Whether a request shows data also when it is alone, and none of the others do: the lookup that it changes, and the
 * same form of a lookup that has no data. A page with examples shows them for every id. Inconclusive if a limit of the
 * target or of the run leaves that open.
 */
async function isWayAround({ send }: Asking, { request, others, shows }: Way): Promise<boolean | Verdict> {
  let open: Verdict | undefined;
  const isShown = async (some: readonly Request[]) => {
    for (const one of some) {
      const [reply] = await send(one);
      if (reply?.kind === 'answer' && shows(reply)) return true;
      if (reply?.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network')
        open = unanswered(reply);
    }
    return false;
  };
  if (await isShown(others)) return false;
  const isShownAlone = (one: Request) => isShown(repeated([one], LOOKUPS_ALONE));
  const isAgain = await isShownAlone(request);
  return isAgain && (await isShownAlone(others[0])) ? false : (open ?? isAgain);
}

/** Names of parameters and header fields that a server may wrongly read as the partner who asks. */
const partnerNames = ['partner', 'partner_id', 'tenant_id', 'ib_id'] as const;

/**
 * Forms of a lookup that claim more than the key of another partner gives: an id of that partner besides, or our name.
 * One may show data of the other partner, so that only our own values are wrong.
 */
function claimsOf({ context, known, plain, own }: Tries, key: KnownKey): readonly Way[] {
  const { endpoint } = plain;
  const asked: Request = { ...plain, credential: { as: 'key', key } };
  const seen = lookupOf(endpoint, idSeenBy(key, endpoint, known));
  const partner = encodeURIComponent(known.partner ?? '');
  const named = partnerNames.map((name) => `${name}=${partner}`);
  const fields = partnerNames.map((name) => [`x-${name.replace('_', '-')}`, partner]);
  const claims: Readonly<Record<string, Partial<Request>>> = {
    'an id of that partner before': { target: `${seen.target}&${queryOf(plain)}` },
    'an id of that partner behind': { target: `${plain.target}&${queryOf(seen)}` },
    'the partner in the query': { target: [plain.target, ...named].join('&') },
    'the partner in header fields': {
      headers: { ...Object.fromEntries(fields), cookie: named.join('; ') },
    },
  };
  return Object.entries(claims)
    .slice(0, isScarce(context, endpoint) ? 1 : undefined)
    .map(([name, claim]) => ({
      name: `${name}, with another partner's key`,
      request: { ...asked, ...claim },
      // The same for either id alone: the other id has the same data, or other requirements are about it.
      others: [
        { ...asked, ...claim, target: plain.target },
        { ...asked, ...claim, target: seen.target },
      ],
      shows: (answer) => sameAnswer(own, answer).kind === 'passed',
    }));
}

/** The own key with a byte that is not ASCII. If a letter in its place is accepted too, that belongs to near misses. */
function otherBytesOf({ known, plain }: Tries): readonly Way[] {
  const key = known.callerKeys[0]!;
  const sentWith = (token: Token): Request => ({ ...plain, ...forms.Bearer[0](token).changes });
  const withLetter = withAdded(key, 'x');
  return withAdded(key, otherByte).map((token, at) => ({
    name: 'a key with a byte that is not ASCII',
    request: sentWith(token),
    others: [sentWith(withLetter[at]!)],
    shows: (answer) => showsData(answer, plain, known),
  }));
}

/** Keys so long that a column may be too short for them, and so long as a header field may be. */
const LONG = [300, 4000] as const;

/** Texts that no issued key is like. Any refusal is right. Other requirements see an answer with a 5xx. */
function oddKeysOf(tries: Tries): readonly Way[] {
  const { plain } = tries;
  const long = LONG.map((length): Way => {
    const value = `Bearer ${'x'.repeat(length)}`;
    const shell = `Bearer $(printf %${length}s | tr ' ' x)`;
    return {
      name: `a key of ${length} characters`,
      request: { ...plain, credential: { as: 'header', value, shell } },
      others: [{ ...plain, credential: { as: 'header', value: UNKNOWN, shell: UNKNOWN } }],
      shows: (answer) => showsData(answer, plain, tries.known),
    };
  });
  return [...otherBytesOf(tries), ...long];
}

/** The tag of the own answer, without the key: 304 would say that the data are the same. */
function tagsOf({ known, plain, own }: Tries): readonly Way[] {
  const tag = header(own, 'etag');
  if (tag === undefined) return [];
  return credentialsOf(known).map((credential) => ({
    name: 'the tag of an answer in If-None-Match, without its key',
    request: { ...plain, credential, headers: { 'if-none-match': tag } },
    others: [{ ...plain, credential }],
    shows: ({ status }) => status === 304,
  }));
}

/** Fields that differ between equal answers anyway. */
const varying = new Set(['date', 'age', 'etag', 'last-modified', 'set-cookie', 'x-request-id', 'cf-ray']);

/** Whether HEAD is answered otherwise with a key, or for another id. A page for everyone shows nothing. */
async function dependsOnCaller(
  { context, known, plain }: Tries,
  request: Request,
  reply: Answer,
): Promise<boolean> {
  const { target } = lookupOf(plain.endpoint, unknownId(known));
  const withKey: Request = { ...request, credential: { as: 'caller' } };
  const others = [
    { ...withKey, target: plain.target },
    { ...withKey, target },
    { ...request, target },
  ];
  const again = await context.send(request, ...others);
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
function timeOf(plain: Request, known: Known): string | undefined {
  const { user, deposit } = factsOf(known, plain) ?? {};
  // A short number may be anything.
  if (deposit !== undefined) return deposit.executedAt >= 1e9 ? `${deposit.executedAt}` : undefined;
  return user?.date_joined.slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
}
