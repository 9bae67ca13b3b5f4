import { endpointNames, endpoints } from '../schemas/endpoints.ts';
import { header, summary, type Answer, type Reply } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { findableId, evenSample, unknownId } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { statedLimit } from './limiter/limit.ts';
import { expectedOf, judgeLookup } from './model/model.ts';
import { depositCheck, lookup, lookupOf, userStatus, type Request } from './request.ts';
import { monitor, observingEach, scenario, type Requirement, type Scenario } from './requirement.ts';
import { failed, pass, inconclusive } from './verdict.ts';

const recordStatuses = (row: Omit<Parameters<typeof observingEach>[0], 'clause'>): Requirement =>
  observingEach({ ...row, clause: 'not shown' });

const changedLookups = (change: (request: Request) => Partial<Request>) => (known: Known) =>
  endpointNames.map((endpoint) => {
    const request = lookupOf(endpoint, findableId(endpoint, known));
    return [endpoint, { ...request, ...change(request) }] as const;
  });

const showField = (name: string) => (reply: Reply) =>
  reply.kind === 'answer' ? (header(reply, name) ?? 'no') : reply.words;

const MAX_CROWD = 6;

/**
 * Groups of lookups that are sent at once and have different answers. A stated limit makes them smaller, most of all
 * if its window outlasts the run.
 */
function crowds(known: Known, leftMs: number): readonly (readonly Request[])[] {
  const limit = statedLimit('deposit-check', known);
  const most = limit?.most ?? Number.POSITIVE_INFINITY;
  const share = limit !== undefined && limit.windowMs > leftMs ? MAX_CROWD ** 2 : MAX_CROWD;
  const size = Math.min(MAX_CROWD, Math.max(2, Math.floor((most * known.callerKeys.length) / share)));
  const users = filled(known.members, size).map(({ user_id }) => userStatus(user_id));
  const deposits = filled(known.executed, size).map(({ reference_id }) => depositCheck(reference_id));
  const unknown = [userStatus(unknownId(known)), depositCheck(unknownId(known))];
  // With --rate, only neighbours are sent at once.
  const twice = (requests: readonly Request[]) => requests.flatMap((one) => [one, one]);
  if (size < MAX_CROWD) return [[...twice(users), ...deposits, ...unknown]];
  const each = [
    [...twice(users), ...unknown],
    [...unknown, ...twice(deposits)],
    [...users, ...deposits],
  ];
  return [...each, ...each];
}

/** A sample of items, repeated up to `size`: a small crowd shows little. */
function filled<Item>(items: readonly Item[], size: number): readonly Item[] {
  const sample = evenSample(items, size);
  return Array.from({ length: sample.length && size }, (_, nth) => sample[nth % sample.length]!);
}

const WRONG_ALONE = 'not checked because the lookup got a wrong answer alone and another one in a crowd';

/**
 * Sends each lookup alone and then in a crowd. A difference is checked with one more lookup alone: if that differs
 * too, the target is unstable and does not mix up answers.
 */
const judgeConcurrency: Scenario['run'] = async ({ send, sendAtOnce, leftMs }, known) => {
  const alone = new Map<string, Reply>();
  let cases = 0;
  let isOverlapping = false;
  for (const crowd of crowds(known, leftMs())) {
    for (const request of crowd)
      if (!alone.has(request.target)) alone.set(request.target, (await send(request))[0]!);
    const together = await sendAtOnce(...crowd);
    for (const [at, request] of crowd.entries()) {
      const [before, reply] = [alone.get(request.target)!, together[at]!];
      const trouble = [before, reply].find((each) => each.kind === 'trouble');
      // If a rate limit stops the test, the crowds so far are enough.
      if (trouble?.code === 'rate-limited' && isOverlapping && cases >= crowd.length)
        return { finding: pass, cases };
      if (trouble !== undefined)
        return { finding: inconclusive(trouble.code, trouble.words), request, reply: trouble, cases };
      const verdict = sameAnswer(before as Answer, reply as Answer);
      cases++;
      isOverlapping ||= together.slice(0, at).some((other) => overlap(other, reply));
      if (verdict.kind === 'passed') continue;
      // Other requirements report what is wrong without a crowd.
      const findings = judgeLookup(expectedOf(known, request)!, before as Answer);
      if (findings.some((one) => one.verdict.kind === 'failed'))
        return { finding: inconclusive('depends', WRONG_ALONE), request, reply: before, cases };
      const [again] = await send(request);
      const isUnstable = again?.kind !== 'answer' || sameAnswer(before as Answer, again).kind !== 'passed';
      const finding = isUnstable
        ? inconclusive('flaky', 'the same lookup, sent alone, got two different answers')
        : verdict;
      return { finding, request, reply, cases };
    }
  }
  const words = 'not checked because no two lookups overlapped in time';
  return { finding: isOverlapping ? pass : inconclusive('timing-window', words), cases };
};

const overlap = (one: Reply, other: Reply) =>
  one.kind === 'answer' &&
  other.kind === 'answer' &&
  one.sentAt <= other.receivedAt &&
  other.sentAt <= one.receivedAt;

export const robustness: readonly Requirement[] = [
  recordStatuses({
    id: 'robustness/service/methods',
    title: 'How methods other than GET are answered',
    requests: (known) =>
      ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [
        method,
        userStatus(findableId('user-status', known), { method }),
      ]),
  }),
  recordStatuses({
    id: 'robustness/service/trailing-slash',
    title: 'How a path with a trailing slash is answered',
    requests: changedLookups(({ target }) => ({ target: target.replace('?', '/?') })),
  }),
  recordStatuses({
    id: 'robustness/service/repeated-parameter',
    title: 'Which value of a repeated parameter counts',
    requests: (known) =>
      endpointNames.flatMap((endpoint) => {
        const bad = `${endpoints[endpoint].parameter}=x`;
        const good = `${endpoints[endpoint].parameter}=${findableId(endpoint, known)}`;
        return [
          [`${endpoint}, good then bad`, lookup(endpoint, `${good}&${bad}`)],
          [`${endpoint}, bad then good`, lookup(endpoint, `${bad}&${good}`)],
        ] as const;
      }),
  }),
  recordStatuses({
    id: 'robustness/service/unknown-parameter',
    title: 'How a request with an unknown parameter is answered',
    requests: changedLookups(({ target }) => ({ target: `${target}&verbose=1` })),
  }),
  recordStatuses({
    id: 'robustness/service/parameter-case',
    title: 'Whether the letter case of parameter names matters',
    requests: changedLookups(({ target }) => ({
      target: target.replace(/\?\w+=/, (name) => name.toUpperCase()),
    })),
  }),
  recordStatuses({
    id: 'robustness/service/head',
    title: 'How HEAD requests are answered',
    requests: changedLookups(() => ({ method: 'HEAD' })),
  }),
  recordStatuses({
    id: 'robustness/service/cors',
    title: 'Whether answers allow other origins (CORS)',
    requests: changedLookups(() => ({ headers: { origin: 'https://partner.example' } })),
    show: showField('access-control-allow-origin'),
  }),
  recordStatuses({
    id: 'robustness/service/compression',
    title: 'Whether answers are compressed on request',
    requests: changedLookups(() => ({ headers: { 'accept-encoding': 'gzip, br' } })),
    show: showField('content-encoding'),
  }),
  scenario({
    id: 'robustness/service/concurrency',
    level: 'required',
    clause: 'What the service does: read-only lookup',
    title: 'Concurrent lookups get the same answers as lookups sent alone',
    needs: 'two members or EXECUTED deposits',
    run: judgeConcurrency,
  }),
  monitor({
    id: 'robustness/service/no-5xx',
    level: 'recommended',
    clause: 'Errors, notes: other statuses are not shown',
    title: 'No request gets a 5xx',
    ifUnseen: inconclusive('not-seen', 'no answer arrived'),
    reading: 'A method other than GET and HEAD may get 501.',
    judge: (request, answer) =>
      answer.status >= 500 && !(answer.status === 501 && !['GET', 'HEAD'].includes(request.method))
        ? failed('status', 'a status below 500', summary(answer))
        : pass,
  }),
];
