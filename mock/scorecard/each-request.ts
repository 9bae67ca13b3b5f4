import { callerOf, endpointOf, type Entry } from './entries.ts';
import type { Rule } from './rule.ts';

const toEndpoints = (entries: readonly Entry[]) => entries.filter((entry) => endpointOf(entry) !== undefined);

/** A key is a secret, and a URL ends in logs (Authentication 1). */
export const keyOutOfUrl: Rule = {
  id: 'key-out-of-url',
  title: 'Kept the key out of the URL',
  clause: 'Authentication 1',
  advice: 'send the key in the Authorization header alone, and issue it anew: URLs are written into logs',
  needs: 'a request',
  judge: (entries) => ({ times: entries.length, broken: entries.filter(({ keyInTarget }) => keyInTarget) }),
};

/** Both operations are GETs (Rules). OPTIONS is a browser's own, and other paths are no business of the client. */
export const getOnly: Rule = {
  id: 'get-only',
  title: 'Sent nothing but GET',
  clause: 'Endpoints',
  advice: 'ask with GET; the service answers no other method of its interface',
  needs: 'a request to an endpoint',
  judge: (entries) => {
    const asked = toEndpoints(entries).filter(({ method }) => method !== 'OPTIONS');
    return { times: asked.length, broken: asked.filter(({ method }) => method !== 'GET') };
  },
};

/** Every request carries a key (Authentication 1). One without may be a probe, or a test of the 401: only none with one tells. */
export const authorization: Rule = {
  id: 'authorization',
  title: 'Sent the Authorization header',
  clause: 'Authentication 1',
  advice: 'send `Authorization: Bearer <API_KEY>` with every request',
  needs: 'a GET of an endpoint',
  judge: (entries) => {
    const asked = toEndpoints(entries).filter(({ method }) => method === 'GET');
    const sent = asked.some((entry) => callerOf(entry) !== undefined);
    return { times: asked.length, broken: sent ? [] : asked };
  },
};
