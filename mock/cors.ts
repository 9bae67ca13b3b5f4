import type { HttpRequest, HttpResponse } from './exchange.ts';

/** For pages of any origin: they hold their key themselves, so nothing rides on cookies. */
const open = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, Retry-After, WWW-Authenticate',
} as const;

/** The answer to a browser that asks whether it may ask; undefined for any other request. */
export function preflight({ method, headers }: HttpRequest): HttpResponse | undefined {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return undefined;
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      ...open,
      'Access-Control-Allow-Methods': 'GET, HEAD',
      'Access-Control-Allow-Headers': typeof asked === 'string' ? asked : 'Authorization',
      'Access-Control-Max-Age': '600',
      Vary: 'Access-Control-Request-Headers',
    },
    body: '',
  };
}

/** An answer that pages of any origin may read. */
export function readable(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, ...open } };
}
