import type { Behaviour } from '../behaviour.ts';
import type { Call, HttpRequest } from '../exchange.ts';
import { splitTarget } from '../handler.ts';
import { normalizers } from '../paths.ts';
import { lookUp } from '../world.ts';
import { acceptKeyIf } from './auth.ts';
import { both, define, failing, idsIn, type Faults } from './define.ts';
import { editResponse, type Difference } from './edits.ts';

const noWayAround = idsIn('auth', both, 'no-way-around');

type Test = (request: HttpRequest) => boolean;

/** Requests that need no key. */
const opened = (test: Test) => acceptKeyIf(both)((_, { request }) => test(request));

/** Whether a path is not the one that it is read as. */
const differs =
  (normalize: (path: string) => string): Test =>
  ({ target }) => {
    const { path } = splitTarget(target);
    return normalize(path) !== path;
  };

const [, trimSlash] = normalizers['trailing-slash'];

/** Reads a path as that of an endpoint, although the key was asked for by the path as it was sent. */
const openPath =
  (normalize: (path: string) => string) =>
  (from: Behaviour): Partial<Behaviour> => ({
    ...opened(differs(normalize))(from),
    path: (path) => normalize(from.path(path)),
  });

const otherMethods = ['POST', 'PUT', 'PATCH', 'OPTIONS'];

const openMethod = {
  change:
    (test: Test): Difference =>
    (from) => ({ ...opened(test)(from), methods: [...from.methods, ...otherMethods] }),
};

const isMethod =
  (name: string): Test =>
  ({ method }) =>
    method === name;

const hasField =
  (name: string, value?: string): Test =>
  ({ headers }) =>
    value === undefined ? headers[name] !== undefined : headers[name] === value;

const isAbsolute: Test = ({ target }) => !target.startsWith('/');

/** Answers another path with data, if a header field names a lookup. */
const pathInField = {
  change: (name: string): Difference =>
    editResponse((_, { request, world }) => {
      const id = /=(.*)/.exec(String(request.headers[name]))?.[1] ?? '';
      const [user, deposit] = [lookUp(world.users, id), lookUp(world.deposits, id)];
      if (user !== undefined) {
        const data = { is_under_ib: true, date_joined: user.date_joined };
        return { status: 200, body: JSON.stringify({ data }) };
      }
      if (deposit?.state !== 'EXECUTED') return {};
      return { status: 200, body: `<executedAt>${deposit.executedAt}</executedAt>` };
    })({ kinds: ['noSuchPath'] }),
};

/** Shows data of every partner to every partner. */
const unscoped =
  (test: Test): Difference =>
  ({ owns }) => ({
    owns: (call, partner) => owns(call, partner) || (partner !== null && test(call.request)),
  });

/** Reads the partner from a request, if it names one. */
const claimed =
  (partnerIn: (call: Call) => string | undefined): Difference =>
  () => ({
    owns: (call, partner) => partner !== null && partner === (partnerIn(call) ?? call.caller?.partner),
  });

const shownBehind = editResponse((response, { call, world }) => {
  const ids = call?.parameters.filter(([name]) => name === 'reference_id') ?? [];
  const last = ids.length > 1 ? lookUp(world.deposits, ids.at(-1)![1].toLowerCase()) : undefined;
  if (last?.state !== 'EXECUTED') return response;
  const { amountInUsd, executedAt } = last;
  return { body: JSON.stringify({ status: 'EXECUTED', amountInUsd, executedAt }) };
})({ kinds: ['executed'] });

/** Forms of a request that show data without a valid key, or to another partner (Authentication). */
export const wayAroundFaults: Faults = {
  ...failing(idsIn('auth', ['deposit-check'], 'no-way-around'), {
    'second-deposit-unscoped: If reference_id is repeated, the last one is shown to whoever may see the first':
      shownBehind,
  }),
  ...failing(idsIn('foreign-ib', both, 'follows-key'), {
    'partner-in-query: The parameter partner_id is taken for the partner of the key': claimed(
      ({ parameters }) => parameters.find(([name]) => name === 'partner_id')?.[1],
    ),
    'partner-in-cookie: The cookie partner_id is taken for the partner of the key': claimed(
      ({ request }) => /\bpartner_id=([^;]+)/.exec(request.headers.cookie ?? '')?.[1],
    ),
  }),
  ...define<(path: string) => string>(
    { id: 'no-key-for', what: 'No key is asked for if the path is', change: openPath },
    noWayAround,
    Object.fromEntries(
      Object.entries(normalizers).map(([id, [words, normalize]]) => [`${id}: ${words}`, normalize]),
    ),
  ),
  ...define(openMethod, noWayAround, {
    ...Object.fromEntries(
      otherMethods.map((name) => [
        `${name.toLowerCase()}-open: ${name} is answered like GET and needs no key`,
        isMethod(name),
      ]),
    ),
    'method-override-open: X-HTTP-Method-Override: GET needs no key': hasField('x-http-method-override'),
  }),
  ...define({ change: opened }, noWayAround, {
    'head-open: HEAD needs no key': isMethod('HEAD'),
    'absolute-target-open: A URL as target needs no key': isAbsolute,
    'absolute-target-any-key: A URL as target shows data with any key': (request) =>
      isAbsolute(request) && request.headers.authorization !== undefined,
    'forwarded-host-open: X-Forwarded-Host: localhost needs no key': hasField(
      'x-forwarded-host',
      'localhost',
    ),
    'field-with-other-path-open: X-Original-URL: / needs no key': hasField('x-original-url', '/'),
    'forwarded-prefix-open: X-Forwarded-Prefix: /internal needs no key': hasField('x-forwarded-prefix'),
  }),
  ...define(pathInField, noWayAround, {
    'original-url-open: X-Original-URL is answered without a key': 'x-original-url',
    'rewrite-url-open: X-Rewrite-URL is answered without a key': 'x-rewrite-url',
  }),
  ...failing(noWayAround, {
    'revoked-key-with-slash: A revoked key is accepted if the path has a slash at its end': ({
      accepts,
    }) => ({
      path: trimSlash,
      accepts: (key, call) =>
        accepts(key, call) || (key.state === 'revoked' && differs(trimSlash)(call.request)),
    }),
    'key-as-ascii: Bytes of a key that are not ASCII are left out': acceptKeyIf(both)(
      (key, { request }) =>
        /[^ -~]/.test(request.headers.authorization ?? '') &&
        request.headers.authorization?.replace(/[^ -~]/g, '') === `Bearer ${key}`,
    ),
    'absolute-target-unscoped: A URL as target shows data of every partner': unscoped(isAbsolute),
    'forwarded-host-unscoped: X-Forwarded-Host shows data of every partner': unscoped(
      hasField('x-forwarded-host'),
    ),
  }),
};
