import { dropHeader, editHeaders, editResponse } from '../change.ts';
import { allErrorRows, both, executedRows, memberRows, rowsOf, user, type Faults } from './rows.ts';

const labelled = (type: string) => editHeaders({}, () => ({ 'Content-Type': type }));
const jsonType = ['valid/service/json-content-type'];

/** Whatever looks into a body. */
const results = [
  ...memberRows,
  ...executedRows,
  ...rowsOf('valid', both, 'shape'),
  ...rowsOf('foreign-ib', user, 'other-ib', 'unknown'),
  ...both.flatMap(allErrorRows),
];

const types: Faults = {
  'labelled-as-html': {
    what: 'Answers are labelled text/html.',
    fails: jsonType,
    change: labelled('text/html; charset=utf-8'),
  },
  'labelled-as-text-json': {
    what: 'Answers are labelled text/json.',
    fails: jsonType,
    change: labelled('text/json'),
  },
  'errors-labelled-as-plain-text': {
    what: 'Errors are labelled text/plain.',
    fails: jsonType,
    change: editResponse({}, ({ status, headers }) =>
      status < 400 ? {} : { headers: { ...headers, 'Content-Type': 'text/plain' } },
    ),
  },
  'not-labelled': {
    what: 'Answers have no Content-Type.',
    fails: jsonType,
    change: dropHeader('Content-Type'),
  },
};

const bodies: Faults = {
  'body-in-utf-16': {
    what: 'Bodies are in UTF-16.',
    fails: results,
    change: editResponse({}, ({ body }) => ({ body: Buffer.from(body.toString(), 'utf16le') })),
  },
  'body-cut-short': {
    what: 'The last character of every body is missing.',
    fails: results,
    change: editResponse({}, ({ body }) => ({ body: body.toString().slice(0, -1) })),
  },
  'body-as-jsonp': {
    what: 'Bodies are calls of a function (JSONP).',
    fails: results,
    change: editResponse({}, ({ body }) => ({ body: `callback(${body.toString()});` })),
  },
};

/** Answers that are not JSON, or are not labelled as such (valid/service). */
export const bodyFaults: Faults = { ...types, ...bodies };
