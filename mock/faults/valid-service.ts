import { dropHeader, editHeaders, editPayload, editResponse } from './change.ts';
import type { HttpResponse } from '../exchange.ts';
import { valuesOf } from '../world.ts';
import {
  allErrorRows,
  both,
  executedRows,
  failing,
  failingBy,
  memberRows,
  noUserData,
  rowsOf,
  user,
  type Faults,
} from './table.ts';

const labelled = (type: string) => editHeaders({}, () => ({ 'Content-Type': type }));
const bodies = (write: (body: string) => HttpResponse['body']) =>
  editResponse({}, ({ body }) => ({ body: write(body.toString()) }));

/** Requirements that look into a body. */
const results = [
  ...memberRows,
  ...executedRows,
  ...rowsOf('valid', both, 'shape'),
  ...rowsOf('foreign-ib', user, 'other-ib', 'unknown'),
  ...both.flatMap(allErrorRows),
];

/** Answers that are not JSON, or are not labelled as JSON. */
const formatFaults: Faults = {
  ...failing(['valid/service/json-content-type'], {
    'labelled-as-html': ['Answers are labelled text/html.', labelled('text/html; charset=utf-8')],
    'labelled-as-text-json': ['Answers are labelled text/json.', labelled('text/json')],
    'errors-labelled-as-plain-text': [
      'Errors are labelled text/plain.',
      editResponse({}, ({ status, headers }) =>
        status < 400 ? {} : { headers: { ...headers, 'Content-Type': 'text/plain' } },
      ),
    ],
    'not-labelled': ['Answers have no Content-Type.', dropHeader('Content-Type')],
  }),
  ...failingBy(results, bodies, {
    'body-in-utf-16': ['Bodies are in UTF-16.', (body) => Buffer.from(body, 'utf16le')],
    'body-cut-short': ['The last character of every body is missing.', (body) => body.slice(0, -1)],
    'body-as-jsonp': ['Bodies are calls of a function (JSONP).', (body) => `callback(${body});`],
  }),
};

/** Answers that hold what the request did not name. */
const leakFaults: Faults = {
  ...failing([noUserData], {
    'partner-in-header': [
      "A header field gives the caller's partner id.",
      editHeaders({}, ({ call }) => ({ 'X-Partner': call?.caller?.partner ?? '-' })),
    ],
    'user-in-header': [
      'A header field gives the user of a deposit.',
      editHeaders({ kinds: ['executed'] }, ({ finding }) => ({
        'X-User': finding.kind === 'executed' ? finding.deposit.user_id : '-',
      })),
    ],
    'key-in-header': [
      "A header field gives the first key of the caller's partner.",
      editHeaders({ kinds: ['unauthorized'] }, ({ world }) => ({
        'X-Expected-Key': valuesOf(world.keys)[0]?.key ?? '-',
      })),
    ],
    'partner-in-challenge': [
      'WWW-Authenticate names a partner as its realm.',
      editHeaders({ status: 401 }, ({ world }) => ({
        'WWW-Authenticate': `Bearer realm="${valuesOf(world.keys)[0]?.partner ?? '-'}"`,
      })),
    ],
  }),
  ...failing([noUserData, 'foreign-ib/user-status/indistinguishable'], {
    'owner-in-header': [
      'A header field gives the partner id of a foreign user.',
      editHeaders({ endpoint: 'user-status', kinds: ['foreign'] }, ({ finding }) => ({
        'X-Owner': finding.kind === 'foreign' && 'user' in finding ? (finding.user.partner ?? '-') : '-',
      })),
    ],
  }),
  ...failing([noUserData, 'pending/deposit-check/pending'], {
    'user-in-404': [
      'The 404 for a pending deposit names its user in a second field.',
      editPayload({ kinds: ['notYet'] }, (payload, { finding }) =>
        finding.kind === 'notYet' && finding.deposit.state === 'pending'
          ? { ...payload, user_id: finding.deposit.user_id }
          : payload,
      ),
    ],
  }),
};

/** Wrong formats and leaks in all answers (valid/service). */
export const validServiceFaults: Faults = { ...formatFaults, ...leakFaults };
