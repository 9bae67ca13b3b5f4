import { dropHeader, editBody, editHeaders, editPayload, editResponse, setHeader } from './edits.ts';
import type { Exchange } from '../exchange.ts';
import { valuesOf } from '../world.ts';
import {
  allErrors,
  answers,
  define,
  both,
  executedIds,
  failing,
  firstPartner,
  memberIds,
  noUserData,
  idsIn,
  user,
  type Faults,
} from './define.ts';

const all = answers('', 'Every answer', {});
const labelled = (type: string) => setHeader('Content-Type', type);

const results = [
  ...memberIds,
  ...executedIds,
  ...idsIn('valid', both, 'shape'),
  ...idsIn('foreign-ib', user, 'other-ib', 'unknown'),
  ...both.flatMap(allErrors),
];

const formatFaults: Faults = {
  ...define(all, ['valid/service/json-content-type'], {
    'labelled-as-html: has the Content-Type text/html': labelled('text/html; charset=utf-8'),
    'labelled-as-text-json: has the Content-Type text/json': labelled('text/json'),
    'not-labelled: has no Content-Type': dropHeader('Content-Type'),
  }),
  ...failing(['valid/service/json-content-type'], {
    'errors-labelled-as-plain-text: Errors have the Content-Type text/plain': editResponse(
      ({ status, headers }) =>
        status < 400 ? {} : { headers: { ...headers, 'Content-Type': 'text/plain' } },
    )(),
  }),
  ...define(
    { ...all, what: 'Every body', change: (write: Parameters<typeof editBody>[0]) => editBody(write)() },
    results,
    {
      'body-in-utf-16: is in UTF-16': (body) => Buffer.from(body, 'utf16le'),
      'body-cut-short: has no last character': (body) => body.slice(0, -1),
      'body-as-jsonp: is a function call (JSONP)': (body) => `callback(${body});`,
    },
  ),
};

const otherKey = ({ world, call }: Exchange) =>
  valuesOf(world.keys).find(({ partner }) => partner !== null && partner !== call?.caller?.partner);

const leakFaults: Faults = {
  ...failing([noUserData], {
    "partner-in-header: A header field gives members another partner's id": editHeaders((exchange) => ({
      'X-Partner': otherKey(exchange)?.partner ?? '-',
    }))({ kinds: ['member'] }),
    'other-key-in-etag: The entity tag of a member holds the key of another partner': editHeaders(
      (exchange) => ({ ETag: `W/"${otherKey(exchange)?.key}-gzip"` }),
    )({ kinds: ['member'] }),
    'other-deposit-in-via: Via holds the reference id of another deposit': editHeaders(
      ({ finding, world }) => ({
        Via: `1.1 ${finding.kind === 'executed' && valuesOf(world.deposits).find((one) => one !== finding.deposit)?.reference_id}`,
      }),
    )({ kinds: ['executed'] }),
    'member-named-in-header: A header field gives the name of a member': editHeaders(() => ({
      'X-User': 'Jane Doe',
    }))({ kinds: ['member'] }),
    'email-in-header: A header field gives the e-mail address of a member': editHeaders(({ finding }) => ({
      'X-Reply': `${finding.kind === 'member' && finding.user.user_id.slice(0, 4)}@example.com`,
    }))({ kinds: ['member'] }),
    'user-in-header: A header field gives the user of a deposit': editHeaders(({ finding }) => ({
      'X-User': finding.kind === 'executed' ? finding.deposit.user_id : '-',
    }))({ kinds: ['executed'] }),
    "key-in-header: A header field gives the first key of the caller's partner": editHeaders(({ world }) => ({
      'X-Expected-Key': valuesOf(world.keys)[0]?.key ?? '-',
    }))({ kinds: ['unauthorized'] }),
    'partner-in-challenge: WWW-Authenticate names a partner as its realm': editHeaders(({ world }) => ({
      'WWW-Authenticate': `Bearer realm="${firstPartner(world) ?? '-'}"`,
    }))({ status: 401 }),
  }),
  ...failing([noUserData, 'foreign-ib/user-status/indistinguishable'], {
    'owner-in-header: A header field gives the partner id of a foreign user': editHeaders(({ finding }) => ({
      'X-Owner': finding.kind === 'foreign' && 'user' in finding ? (finding.user.partner ?? '-') : '-',
    }))({ endpoint: 'user-status', kinds: ['foreign'] }),
  }),
  ...failing([noUserData, 'pending/deposit-check/pending'], {
    'user-in-404: The 404 for a pending deposit names its user in a second field': editPayload(
      (payload, { finding }) =>
        finding.kind === 'notYet' && finding.deposit.state === 'pending'
          ? { ...payload, user_id: finding.deposit.user_id }
          : payload,
    )({ kinds: ['notYet'] }),
  }),
};

/** Wrong formats and leaks in all answers (valid/service). */
export const validServiceFaults: Faults = { ...formatFaults, ...leakFaults };
