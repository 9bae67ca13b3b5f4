import type { StateHook } from '../requirement.ts';

/**
 * A state hook behind a URL, by Pact's convention: POST `{ state, params, action }`, any 2xx is taken
 * for done.
 *
 * @param timeoutMs bound on each call
 */
export function stateHookAt(url: URL, timeoutMs: number): StateHook {
  return {
    change: async (action, state, params) => {
      let status: number;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ state, params, action }),
          signal: AbortSignal.timeout(timeoutMs),
          redirect: 'error',
        });
        await response.body?.cancel();
        status = response.status;
      } catch (error) {
        throw new Error(`the state hook at ${url.href} cannot be reached: ${(error as Error).message}`, {
          cause: error,
        });
      }
      if (status < 200 || status > 299)
        throw new Error(`the state hook at ${url.href} answered ${status} to "${state}" (${action})`);
    },
  };
}
