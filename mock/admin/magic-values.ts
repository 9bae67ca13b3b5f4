import { endpoints } from '../../schemas/endpoints.ts';
import { magicValues } from '../magic-values.ts';
import { trimBasePath } from '../handler.ts';
import { ok, type Route } from './route.ts';

/** What shows each state of the interface, for a client to ask for. */
export const magicValueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/magic-values',
    summary:
      'An id and a key for each state that the fixture can show; `port` is that of the service where it is another than this one.',
    isForAll: true,
    handle: ({ fixture, facts, options, arePublicKeys, servicePort }) => {
      const basePath = trimBasePath(options.basePath ?? '/');
      const values = magicValues(fixture, facts).map(({ shows, endpoint, id, key }) => {
        const { path, parameter } = endpoints[endpoint];
        return {
          shows,
          target: `${basePath}${path}?${parameter}=${id}`,
          keyName: key.name,
          ...(arePublicKeys && { key: key.key }),
        };
      });
      return ok({ ...(servicePort !== undefined && { port: servicePort }), values });
    },
  },
];
