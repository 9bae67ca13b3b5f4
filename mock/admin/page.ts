import { loadPage, policyOf } from '../page/asset.ts';
import type { Route } from './route.ts';

/** The page for people. It holds no data: what it shows it asks for, with the token where one is needed. */
export const pageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    summary: 'The page for people, as HTML.',
    isForAll: true,
    isOpen: true,
    handle: async () => {
      const html = await loadPage();
      return {
        status: 200,
        html,
        headers: { 'Content-Security-Policy': policyOf(html), 'Referrer-Policy': 'no-referrer' },
      };
    },
  },
];
