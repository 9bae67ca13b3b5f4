import type { Exchange } from '../exchange.ts';
import { acceptKeyIf } from './auth.ts';
import { both, define, failing, idsIn, noServerErrors, user, type Faults } from './define.ts';
import { answerWith, crash, editBody, setJson, type Edit, type Filter } from './edits.ts';

type Where = (exchange: Pick<Exchange, 'request' | 'call'>) => boolean;

const has =
  (name: string, pattern: RegExp): Where =>
  ({ request }) =>
    pattern.test(String(request.headers[name] ?? ''));

const isGerman = has('accept-language', /^de\b/);
const isAnything = has('accept', /^\*\/\*$/);
const isOfBrowser = has('accept', /^text\/html/);

/** Whether the field name Authorization is written like this. */
const isNamed =
  (name: string): Where =>
  ({ request: { rawHeaders = [] } }) =>
    rawHeaders.includes(name);

const unauthorized = answerWith(401, { error: 'Unauthorized' });
const asXml = editBody(() => '<error/>');

/** Whether a key that is not issued comes with such fields. */
const wrongKeyWith =
  (where: Where): Where =>
  (exchange) =>
    where(exchange) && exchange.call?.credential !== undefined && exchange.call.key === undefined;

/** Answers that a header field changes. */
const answersWith = (filter: Filter) => ({
  change: ([where, edit]: readonly [Where, Edit]) => edit({ ...filter, where }),
});

/** Header fields that must not change the answer, and do, and an empty Authorization. */
export const headerFieldFaults: Faults = {
  ...define(answersWith({ status: 404, kinds: ['unknown'] }), ['foreign-ib/deposit-check/unknown'], {
    'not-found-translated: The message for an unknown deposit is translated for Accept-Language: de': [
      isGerman,
      setJson({ error: 'Einzahlung nicht gefunden' }),
    ],
    'not-found-as-xml: An unknown deposit gets XML without Accept': [has('accept', /^$/), asXml],
  }),
  ...define(answersWith({ kinds: ['unauthorized'] }), idsIn('auth', both, 'unknown-key'), {
    'wrong-key-as-xml-for-any-type: An unknown key gets XML for Accept: */*': [
      wrongKeyWith(isAnything),
      asXml,
    ],
    'wrong-key-sent-to-login: A browser with an unknown key is redirected to a login page': [
      wrongKeyWith(isOfBrowser),
      answerWith(302),
    ],
  }),
  ...define(answersWith({ status: 429 }), idsIn('rate-limit', both, 'message'), {
    'limit-translated: The message of a 429 is translated for Accept-Language: de': [
      isGerman,
      setJson({ error: 'Zu viele Anfragen' }),
    ],
  }),
  ...define(answersWith({ kinds: ['member'] }), idsIn('valid', user, 'member', 'shape'), {
    'member-as-page: A browser gets a page for a member': [isOfBrowser, editBody((body) => `<p>${body}</p>`)],
    'member-translated: The fields of a member are in German for Accept-Language: de': [
      isGerman,
      setJson({ unter_ib: true }),
    ],
  }),
  ...define(answersWith({ kinds: ['member'] }), ['valid/user-status/member'], {
    'member-unseen-in-capitals: The field name AUTHORIZATION is not read for a member': [
      isNamed('AUTHORIZATION'),
      unauthorized,
    ],
  }),
  ...define(
    answersWith({ kinds: ['member'] }),
    ['valid/user-status/member', 'foreign-ib/user-status/follows-key'],
    {
      'member-unseen-unless-in-lower-case: Authorization is read in lower case only for a member': [
        (exchange) => !isNamed('authorization')(exchange),
        unauthorized,
      ],
    },
  ),
  ...define(answersWith({ kinds: ['member'] }), ['valid/user-status/member', noServerErrors], {
    'no-cache-crashes: Cache-Control: no-cache crashes the lookup of a member': [
      has('cache-control', /no-cache/),
      crash,
    ],
  }),
  ...define(answersWith({ kinds: ['unauthorized'] }), [...idsIn('auth', both, 'malformed'), noServerErrors], {
    'empty-authorization-crashes: An empty Authorization field crashes': [
      ({ request }) => request.headers.authorization === '',
      crash,
    ],
  }),
  ...failing(idsIn('auth', both, 'unknown-key'), {
    'local-address-let-in: X-Forwarded-For: 127.0.0.1 lets any key in': acceptKeyIf(both)(
      (_, call, text) => text !== undefined && call.request.headers['x-forwarded-for'] === '127.0.0.1',
    ),
  }),
};
