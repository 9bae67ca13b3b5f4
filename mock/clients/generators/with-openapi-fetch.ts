/** openapi-fetch over the types of openapi-typescript. */
import createClient, { type Client } from 'openapi-fetch';
import { goThrough } from './flows.ts';
import type { paths } from './generated/openapi-typescript.ts';

/** What the compiler has to refuse, and would let pass if the client were `any`. */
export function refused(client: Client<paths>): void {
  // @ts-expect-error -- the parameter is user_id
  void client.GET('/api/ib/user-status', { params: { query: { userId: '' } } });
  // @ts-expect-error -- the parameter is required
  void client.GET('/api/ib/deposit-check', {});
  // @ts-expect-error -- there is no such path
  void client.GET('/api/ib/users', {});
  const found = client.GET('/api/ib/user-status', { params: { query: { user_id: '' } } });
  // @ts-expect-error -- user-status has no such message
  void found.then(({ error }) => error?.error === 'Deposit not found');
}

await goThrough((baseUrl, key) => {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  return {
    userStatus: async (user_id) => {
      const { data, error, response } = await client.GET('/api/ib/user-status', {
        params: { query: { user_id } },
      });
      return { status: response.status, found: data, refusal: error };
    },
    depositCheck: async (reference_id) => {
      const { data, error, response } = await client.GET('/api/ib/deposit-check', {
        params: { query: { reference_id } },
      });
      return { status: response.status, found: data, refusal: error };
    },
  };
});
