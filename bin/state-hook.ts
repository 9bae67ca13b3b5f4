import type { RunOptions } from '../suites/index.ts';

/**
 * A state hook behind a URL, by Pact's convention: POST `{ state, params, action }`, any 2xx is taken
 * for done. An answer that is none carries its `status` on the error.
 *
 * @param timeoutMs bound on each call
 */
export function stateHookAt(url: URL, timeoutMs: number): NonNullable<RunOptions['stateHook']> {
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
        const words = `the state hook at ${url.href} cannot be reached: ${reasonOf(error)}`;
        throw new Error(words, { cause: error });
      }
      if (status >= 200 && status <= 299) return;
      const words = `the state hook at ${url.href} answered ${status} to "${state}" (${action})`;
      throw Object.assign(new Error(words), { status });
    },
  };
}

/** `fetch failed` alone says nothing. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
