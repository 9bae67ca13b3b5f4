import { endpointNames, endpoints } from '../../schemas/endpoints.ts';
import { header, summary, type Answer, type Reply } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { isOnPath, lookup, lookupOf, userStatus, type Request } from '../request.ts';
import { monitor, observes, scenario, shown, type Requirement } from '../rules/requirement.ts';
import { judgeAnyClient } from '../scenarios/any-client.ts';
import { judgeConcurrency } from '../scenarios/concurrency.ts';
import { failed, inconclusive, pass } from '../rules/verdict.ts';

const records = (row: Omit<Parameters<typeof observes>[0], 'clause' | 'endpoint'>): Requirement =>
  observes({ ...row, endpoint: 'service', clause: 'Left open: requests' });

const changedLookups = (change: (request: Request) => Partial<Request>) => (known: Known) =>
  endpointNames.map((endpoint) => {
    const request = lookupOf(endpoint, findableId(endpoint, known));
    return [endpoint, { ...request, ...change(request) }] as const;
  });

const showField = (name: string) => (reply: Reply) =>
  reply.kind === 'answer' ? (header(reply, name) ?? 'no') : reply.words;

/** Whether a request has another method or path than the interface. */
const isOther = (request: Request): boolean =>
  !['GET', 'HEAD'].includes(request.method) || !isOnPath(request);

/** A status that no request may get. Another method than GET and HEAD, and another path, may get 501. */
export const isCrash = (request: Request, { status }: Answer): boolean =>
  status >= 500 && !(status === 501 && isOther(request));

export const robustness: readonly Requirement[] = [
  records({
    id: 'robustness/service/methods',
    title: 'How methods other than GET are answered',
    requests: (known) =>
      ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [
        method,
        userStatus(findableId('user-status', known), { method }),
      ]),
  }),
  records({
    id: 'robustness/service/trailing-slash',
    title: 'How a path with a trailing slash is answered',
    requests: changedLookups(({ target }) => ({ target: target.replace('?', '/?') })),
  }),
  records({
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
  records({
    id: 'robustness/service/unknown-parameter',
    title: 'How a request with an unknown parameter is answered',
    requests: changedLookups(({ target }) => ({ target: `${target}&verbose=1` })),
  }),
  records({
    id: 'robustness/service/head',
    title: 'How HEAD requests are answered',
    requests: changedLookups(() => ({ method: 'HEAD' })),
  }),
  records({
    id: 'robustness/service/cors',
    title: 'Whether answers allow other origins (CORS)',
    requests: changedLookups(() => ({ headers: { origin: 'https://partner.example' } })),
    show: showField('access-control-allow-origin'),
  }),
  scenario({
    id: 'robustness/service/concurrency',
    level: 'required',
    clause: 'Service: read-only',
    title: 'Concurrent lookups get the same answers as lookups sent alone',
    endpoint: 'service',
    needs: endpointNames.map(shown),
    judgesConcurrency: true,
    sends: 94,
    run: judgeConcurrency,
  }),
  scenario({
    id: 'robustness/service/any-client',
    level: 'recommended',
    clause: 'RFC 9110 10.1.5, 12.5.3, 13.1.2',
    title: 'A lookup is answered alike whatever client sends it',
    reading:
      'Clients: those with the User-Agent of a common library, with Accept-Encoding: gzip or identity, and with a tag that the target sent. A coding that was not offered cannot be read. 304 to the tag of the same answer is right.',
    endpoint: 'service',
    needs: endpointNames.map(shown),
    sends: 14,
    isAlone: () => true,
    run: judgeAnyClient,
  }),
  monitor({
    id: 'robustness/service/no-5xx',
    level: 'recommended',
    clause: 'Left open: other errors',
    title: 'No request gets a 5xx',
    ifUnseen: inconclusive('not-seen', 'no answer arrived'),
    reading: 'Another method than GET and HEAD, and another path, may get 501.',
    judge: (request, answer) =>
      isCrash(request, answer) ? failed('status', 'a status below 500', summary(answer)) : pass,
  }),
];
