import type { StreamedResponse } from '../exchange.ts';
import type { Session } from '../session.ts';

/** An admin call, read and let in. */
export interface AdminRequest {
  /** Name of the world that it is about; the empty text is the main one. */
  readonly world: string;
  /** What stands in the place of `{name}` in the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The Accept field; empty where there is none. */
  readonly accept: string;
  /** The JSON of the body; undefined where there is none. */
  readonly body: unknown;
}

/** JSON, a page, another text, or a stream. */
export type AdminAnswer =
  | { readonly status: number; readonly json?: unknown }
  | { readonly status: number; readonly html: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: number; readonly type: string; readonly text: string }
  | StreamedResponse;

export type AdminHandler = (session: Session, request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>;

/** A part of a JSON schema, enough to describe a body. */
export type BodySchema = Readonly<Record<string, unknown>>;

/** A route of the admin API: what serves it, and what its description says. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind `/__admin`; `{name}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly handle: AdminHandler;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: BodySchema;
  /** It is about all worlds, not about one. */
  readonly isForAll?: true;
  /** Whoever reaches the port may call it: it tells nothing. */
  readonly isOpen?: true;
}

export const ok = (json: unknown): AdminAnswer => ({ status: 200, json });
