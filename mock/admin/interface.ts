import description from '../../schemas/openapi.json' with { type: 'json' };
import { trimBasePath } from '../handler.ts';
import { ok, type Route } from './route.ts';

/** The service itself, described for generators of clients. */
export const interfaceRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/interface.json',
    summary:
      'The two lookups as an OpenAPI document; its server is this one, where the service has no port of its own.',
    isForAll: true,
    handle: ({ options, servicePort }) => {
      if (servicePort !== undefined) return ok(description);
      return ok({ ...description, servers: [{ url: trimBasePath(options.basePath ?? '/') || '/' }] });
    },
  },
];
