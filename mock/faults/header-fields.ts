import type { Exchange } from '../exchange.ts';
import { acceptKeyIf } from './auth.ts';
import { both, failing, idsIn, noServerErrors, user, type Faults } from './define.ts';
import { answerWith, crash, editBody, setJson } from './edits.ts';

type Where = (exchange: Pick<Exchange, 'request' | 'call'>) => boolean;

const has =
  (name: string, pattern: RegExp): Where =>
  ({ request }) =>
    pattern.test(String(request.headers[name] ?? ''));

const isGerman = has('accept-language', /^de\b/);
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

const ofUnknown = { status: 404, kinds: ['unknown'] } as const;
const ofMember = { kinds: ['member'] } as const;
const ofRefusal = { kinds: ['unauthorized'] } as const;

/** Header fields that must not change the answer, and do, and an empty Authorization. */
export const headerFieldFaults: Faults = {
  ...failing(['foreign-ib/deposit-check/unknown'], {
    'not-found-translated: The message for an unknown deposit is translated for Accept-Language: de': setJson(
      { error: 'Einzahlung nicht gefunden' },
    )({ ...ofUnknown, where: isGerman }),
    'not-found-as-xml: An unknown deposit gets XML without Accept': asXml({
      ...ofUnknown,
      where: has('accept', /^$/),
    }),
  }),
  ...failing(idsIn('auth', both, 'unknown-key'), {
    'wrong-key-as-xml-for-any-type: An unknown key gets XML for Accept: */*': asXml({
      ...ofRefusal,
      where: wrongKeyWith(has('accept', /^\*\/\*$/)),
    }),
    'wrong-key-sent-to-login: A browser with an unknown key is redirected to a login page': answerWith(302)({
      ...ofRefusal,
      where: wrongKeyWith(isOfBrowser),
    }),
    'local-address-let-in: X-Forwarded-For: 127.0.0.1 lets any key in': acceptKeyIf(both)(
      (_, call, text) => text !== undefined && call.request.headers['x-forwarded-for'] === '127.0.0.1',
    ),
  }),
  ...failing(idsIn('rate-limit', both, 'message'), {
    'limit-translated: The message of a 429 is translated for Accept-Language: de': setJson({
      error: 'Zu viele Anfragen',
    })({ status: 429, where: isGerman }),
  }),
  ...failing(idsIn('valid', user, 'member', 'shape'), {
    'member-as-page: A browser gets a page for a member': editBody((body) => `<p>${body}</p>`)({
      ...ofMember,
      where: isOfBrowser,
    }),
    'member-translated: The fields of a member are in German for Accept-Language: de': setJson({
      unter_ib: true,
    })({ ...ofMember, where: isGerman }),
  }),
  ...failing(['valid/user-status/member'], {
    'member-unseen-in-capitals: The field name AUTHORIZATION is not read for a member': unauthorized({
      ...ofMember,
      where: isNamed('AUTHORIZATION'),
    }),
    'member-unseen-unless-in-lower-case: For a member of northwind, Authorization is read in lower case only':
      unauthorized({
        ...ofMember,
        where: (exchange) =>
          exchange.call?.caller?.partner === 'northwind' && !isNamed('authorization')(exchange),
      }),
  }),
  ...failing(['valid/user-status/member', noServerErrors], {
    'no-cache-crashes: Cache-Control: no-cache crashes the lookup of a member': crash({
      ...ofMember,
      where: has('cache-control', /no-cache/),
    }),
  }),
  ...failing([...idsIn('auth', both, 'malformed'), noServerErrors], {
    'empty-authorization-crashes: An empty Authorization field crashes': crash({
      ...ofRefusal,
      where: ({ request }) => request.headers.authorization === '',
    }),
  }),
};
