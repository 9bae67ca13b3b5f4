import { endpoints } from '../../schemas/endpoints.ts';
import { accept, answerWith, editHeaders, editResponse } from '../change.ts';
import type { Parameter } from '../exchange.ts';
import { deposit } from '../faults/table.ts';
import type { Variants } from './variant.ts';

const valuesOf = (parameters: readonly Parameter[], wanted: string) =>
  parameters.filter(([name]) => name === wanted).map(([, value]) => value);

const paths: Variants = {
  'trailing-slash-accepted': {
    what: 'A trailing slash in the path makes no difference.',
    change: (behaviour) => ({ ...behaviour, path: (path) => path.replace(/\/$/, '') }),
  },
  'path-case-ignored': {
    what: 'The letter case of the path makes no difference.',
    change: (behaviour) => ({ ...behaviour, path: (path) => path.toLowerCase() }),
  },
  'other-paths-need-key': {
    what: 'Other paths are answered with 401 to those who present no key.',
    change: answerWith(
      { kinds: ['noSuchPath'], where: ({ request }) => request.headers.authorization === undefined },
      401,
      { error: 'Unauthorized' },
    ),
  },
};

const methods: Variants = {
  'head-refused': {
    what: 'HEAD is answered with 405.',
    change: (behaviour) => ({ ...behaviour, methods: ['GET'] }),
  },
  'other-methods-not-found': {
    what: 'Other methods are answered with 404.',
    change: answerWith({ kinds: ['noSuchMethod'] }, 404, { error: 'Not found' }),
  },
  'other-methods-like-get': {
    what: 'POST, PUT, PATCH, DELETE and OPTIONS are answered like GET.',
    change: (behaviour) => ({
      ...behaviour,
      methods: [...behaviour.methods, 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    }),
  },
  'cross-origin-allowed': {
    what: 'OPTIONS is answered with 204, and every answer allows any origin (CORS).',
    change: (behaviour) =>
      editResponse({ kinds: ['noSuchMethod'], where: ({ request }) => request.method === 'OPTIONS' }, () => ({
        status: 204,
        body: '',
      }))(editHeaders({}, () => ({ 'Access-Control-Allow-Origin': '*' }))(behaviour)),
  },
};

const parameters: Variants = {
  'repeated-parameter-last': {
    what: 'The last of repeated parameters counts.',
    change: (behaviour) => ({ ...behaviour, value: (all, name) => valuesOf(all, name).at(-1) }),
  },
  'repeated-parameter-refused': {
    what: 'A repeated parameter is invalid.',
    change: (behaviour) => ({
      ...behaviour,
      value: (all, name) => {
        const values = valuesOf(all, name);
        return values.length > 1 ? '' : values[0];
      },
    }),
  },
  'unknown-parameter-refused': {
    what: 'A parameter that the endpoint does not know makes the request invalid.',
    change: (behaviour) => ({
      ...behaviour,
      value: (all, name) => (all.some((one) => one[0] !== name) ? '' : behaviour.value(all, name)),
    }),
  },
  'parameter-case-ignored': {
    what: 'The letter case of parameter names makes no difference.',
    change: (behaviour) => ({
      ...behaviour,
      value: (all, name) => all.find((one) => one[0].toLowerCase() === name)?.[1],
    }),
  },
  'nil-and-max-accepted': {
    what: 'The nil and the max UUID are well-formed reference_ids.',
    change: accept(deposit, (value) => /^(0{8}(-0{4}){3}-0{12}|f{8}(-f{4}){3}-f{12})$/i.test(value)),
  },
};

const authentication: Variants = {
  'lower-case-bearer-refused': {
    what: 'Only the scheme spelled Bearer is accepted.',
    change: (behaviour) => ({
      ...behaviour,
      credential: (call) =>
        call.request.headers.authorization?.startsWith('Bearer ') ? behaviour.credential(call) : undefined,
    }),
  },
  'parameter-before-key': {
    what: '400 comes before 401.',
    change: (behaviour) => ({ ...behaviour, order: ['parameter', 'key', 'limit'] }),
  },
  'parameter-before-limit': {
    what: '400 comes before 429.',
    change: (behaviour) => ({ ...behaviour, order: ['key', 'parameter', 'limit'] }),
  },
  'challenge-left-out': {
    what: 'A 401 carries no WWW-Authenticate.',
    change: (behaviour) =>
      editResponse({ status: 401 }, ({ headers: { 'WWW-Authenticate': _, ...headers } }) => ({ headers }))(
        behaviour,
      ),
  },
  'challenge-with-realm': {
    what: 'WWW-Authenticate names a realm and an error (RFC 6750).',
    change: editHeaders({ status: 401 }, ({ call }) => ({
      'WWW-Authenticate': `Bearer realm="${call ? endpoints[call.endpoint].path : ''}", error="invalid_token"`,
    })),
  },
};

/** Other ways to read a request. */
export const requestVariants: Variants = { ...paths, ...methods, ...parameters, ...authentication };
