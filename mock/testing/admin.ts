/** The JSON of an answer. */
// oxlint-disable-next-line typescript/no-explicit-any -- each test reads its own shape
type Json = Record<string, any>;

import { testSession } from './session.ts';
import { answerAdmin } from '../control/admin.ts';

/** Creates a test session and calls its admin API without access checks. */
export function testAdmin(options: Parameters<typeof testSession>[0] = {}) {
  const mock = testSession(options);
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = answerAdmin(mock.session, undefined, {
      method,
      target: `/__admin${path}`,
      headers: {},
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = answer.body;
    return {
      status: answer.status,
      headers: answer.headers,
      // The page is not JSON.
      json: (text === '' ? undefined : text.startsWith('<') ? text : JSON.parse(text)) as Json,
    };
  };
  return {
    ...mock,
    call,
    /** Returns the JSON of a call that must succeed. */
    callJson: async (method: string, path: string, body?: unknown) => {
      const { status, json } = await call(method, path, body);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
      return json;
    },
    /** Returns status, error and place of a refused call. */
    callRefused: async (method: string, path: string, body?: unknown) => {
      const { status, json } = await call(method, path, body);
      return [status, json['error'], json['place']] as [number, string, string | undefined];
    },
  };
}
