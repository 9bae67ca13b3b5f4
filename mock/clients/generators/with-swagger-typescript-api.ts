/** The client that swagger-typescript-api makes, told not to throw at errors. */
import { goThrough } from './flows.ts';
import { Api } from './generated/swagger-typescript-api.ts';

/** What the compiler has to refuse, and would let pass if the client were `any`. */
export function refused({ api }: Api<unknown>): void {
  // @ts-expect-error -- the parameter is user_id
  void api.userStatus({ userId: '' });
  // @ts-expect-error -- the parameter is required
  void api.depositCheck({});
  // @ts-expect-error -- there is no such lookup
  void api.users({});
  const found = api.userStatus({ user_id: '' });
  // @ts-expect-error -- user-status has no such message
  void found.then(({ error }) => error.error === 'Deposit not found');
}

await goThrough((baseUrl, key) => {
  const { api } = new Api({
    baseUrl,
    securityWorker: () => ({ headers: { Authorization: `Bearer ${key}` } }),
  });
  return {
    userStatus: async (user_id) => {
      const { status, ok, data, error } = await api.userStatus({ user_id });
      return { status, found: ok ? data : undefined, refusal: ok ? undefined : error };
    },
    depositCheck: async (reference_id) => {
      const { status, ok, data, error } = await api.depositCheck({ reference_id });
      return { status, found: ok ? data : undefined, refusal: ok ? undefined : error };
    },
  };
});
