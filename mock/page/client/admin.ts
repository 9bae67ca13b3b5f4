/** The call was refused; the message is the mock's own. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refused';
    this.status = status;
  }
}

/** `/__admin`, wherever a proxy has put it. */
const root = location.pathname.replace(/\/$/, '');

// In memory alone: it is gone with the page.
let token: string | undefined;

/** From now on calls present this token. */
export function useToken(given: string): void {
  token = given;
}

/**
 * Calls the admin API.
 *
 * @throws Refused where the mock says no; a TypeError where it cannot be reached
 */
export async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await ask(method, path, body);
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

/** The same, with the answer as it comes; `signal` ends it. */
export async function ask(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const response = await fetch(`${root}/${path}`, {
    method,
    cache: 'no-store',
    credentials: 'omit',
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (response.ok) return response;
  const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Refused(response.status, error);
}
