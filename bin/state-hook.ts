import type { RunOptions } from '../suites/index.ts';

/**
 * Returns a state hook that calls a URL by Pact's convention: POST `{ state, params, action }`; any 2xx
 * means success. The error for another status has it as `status`.
 *
 * @param timeoutMs timeout of each call
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

/** Prefers the cause, because `fetch failed` alone does not help. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
