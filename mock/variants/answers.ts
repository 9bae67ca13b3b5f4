import { gzipSync } from 'node:zlib';
import { dropHeader, editHeaders, editPayload, editResponse, type Change } from '../change.ts';
import type { Variants } from './variant.ts';

const labelled = (type: string) => editHeaders({}, () => ({ 'Content-Type': type }));

const written =
  (write: (payload: unknown) => string): Change =>
  (behaviour) => ({ ...behaviour, write });

const dates = (rewrite: (date: string) => string) =>
  editPayload({ kinds: ['member'] }, (payload) => ({
    ...payload,
    date_joined: rewrite(String(payload['date_joined'])),
  }));

/** Every character of every text as its escape: `"OK"` → `"\u004f\u004b"` */
function escaped(json: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/"([^"\\]*)"/g, (_, text: string) => `"${text.replace(/./g, escape)}"`);
}

const json: Variants = {
  'json-indented': {
    what: 'JSON is indented and ends in a newline.',
    change: written((payload) => `${JSON.stringify(payload, null, '\t')}\r\n`),
  },
  'json-escaped': {
    what: 'Every character of every name and text is escaped.',
    change: written((payload) => escaped(JSON.stringify(payload))),
  },
  'fields-reversed': {
    what: 'Fields come in the opposite order.',
    change: editPayload({}, (payload) => Object.fromEntries(Object.entries(payload).toReversed())),
  },
  'numbers-with-exponent': {
    what: 'Numbers are spelled with an exponent.',
    change: written((payload) =>
      JSON.stringify(payload).replace(/(?<=":)\d[\d.]*/g, (number) => `${number}E+0`),
    ),
  },
  'numbers-with-zeros': {
    what: 'Numbers end in zeros after the decimal point.',
    change: written((payload) =>
      JSON.stringify(payload).replace(/(?<=":)\d[\d.]*/g, (number) =>
        number.includes('.') ? `${number}00` : `${number}.00`,
      ),
    ),
  },
};

const times: Variants = {
  'date-with-more-digits': {
    what: 'date_joined has nine fraction digits.',
    change: dates((date) =>
      date.replace(/(?:\.(\d*))?Z$/, (_, digits = '') => `.${String(digits).padEnd(9, '0')}Z`),
    ),
  },
  'date-with-fewer-digits': {
    what: 'date_joined has no more fraction digits than it needs.',
    change: dates((date) => date.replace(/(\.\d*?)0+Z$/, '$1Z').replace('.Z', 'Z')),
  },
  'date-with-zero-offset': {
    what: 'date_joined ends in +00:00.',
    change: dates((date) => date.replace('Z', '+00:00')),
  },
};

const fields: Variants = {
  'charset-named': {
    what: 'Content-Type names the charset.',
    change: labelled('application/json; charset=utf-8'),
  },
  'content-type-in-capitals': {
    what: 'Content-Type is in capitals.',
    change: labelled('APPLICATION/JSON;CHARSET=UTF-8'),
  },
  'content-type-of-vendor': {
    what: 'Content-Type is application/vnd.ib+json.',
    change: labelled('application/vnd.ib+json'),
  },
  'cache-control-left-out': {
    what: 'Answers have no Cache-Control.',
    change: dropHeader('Cache-Control'),
  },
  'security-headers': {
    what: 'Answers carry the usual header fields of a front end.',
    change: editHeaders({}, () => ({
      Server: 'gateway',
      Vary: 'Authorization, Accept-Encoding',
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Content-Type-Options': 'nosniff',
    })),
  },
  'request-id': {
    what: 'Every answer carries a number of its own.',
    change: (behaviour) => {
      let count = 0;
      return editHeaders({}, () => ({ 'X-Request-Id': `${(count += 1)}` }))(behaviour);
    },
  },
};

const transfer: Variants = {
  chunked: {
    what: 'Bodies are sent in chunks, without a length.',
    change: editHeaders({}, () => ({ 'Transfer-Encoding': 'chunked' })),
  },
  'connection-closed': {
    what: 'Every answer ends its connection.',
    change: editHeaders({}, () => ({ Connection: 'close' })),
  },
  'compressed-on-request': {
    what: 'Bodies are compressed for those who accept gzip.',
    change: editResponse(
      { where: ({ request }) => /\bgzip\b/.test(`${request.headers['accept-encoding']}`) },
      ({ headers, body }) => ({
        headers: { ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
        body: gzipSync(body),
      }),
    ),
  },
};

/** Other ways to write an answer. */
export const answerVariants: Variants = { ...json, ...times, ...fields, ...transfer };
