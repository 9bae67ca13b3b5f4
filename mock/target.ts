import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Parameter } from './exchange.ts';

/** Scheme and authority of an absolute-form target, which a server has to accept (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Splits a request target into path and query, without the question mark. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** Names and values of a query, in its order, each through `decode`. */
export function readQuery(query: string, decode: (text: string) => string): readonly Parameter[] {
  const parameters: Parameter[] = [];
  if (query === '') return parameters;
  for (let begin = 0; begin <= query.length;) {
    const ampersand = query.indexOf('&', begin);
    const end = ampersand < 0 ? query.length : ampersand;
    const sign = query.indexOf('=', begin);
    parameters.push(
      sign < 0 || sign > end
        ? [decode(query.slice(begin, end)), '']
        : [decode(query.slice(begin, sign)), decode(query.slice(sign + 1, end))],
    );
    begin = end + 1;
  }
  return parameters;
}

/**
 * The text that a percent-encoded name or value stands for. Text that cannot be decoded stays as it
 * is: the per cent sign in it makes it an invalid id, so that it is answered like any other.
 */
export function decodeText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** `/gateway/v2/` → `/gateway/v2`, `/` → the empty string */
export function trimBasePath(basePath: string): string {
  const inner = basePath.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '' : `/${inner}`;
}

/** The paths of the endpoints under a base path (Endpoints), each through `path`. */
export function routesUnder(basePath: string, path: (path: string) => string): ReadonlyMap<string, Endpoint> {
  const base = trimBasePath(basePath);
  const names = Object.keys(endpoints) as Endpoint[];
  return new Map(names.map((name) => [path(base + endpoints[name].path), name]));
}
