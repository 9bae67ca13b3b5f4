import { endpoints } from '../../schemas/endpoints.ts';
import { authorizationOf } from '../facts-of-request.ts';
import type { Known } from '../known.ts';
import { fingerprint, type Request } from '../request.ts';

/**
 * How often something was asked for with this key, this time included: the id, the URL, and the URL with the same header
 * fields. Undefined if nobody knows, because a lost or refused request may count or not.
 */
export interface Nth {
  readonly id: number | undefined;
  readonly url: number | undefined;
  readonly request: number | undefined;
}

/** Histories are first, second, later. */
export const LATER = 3;

/** Counts how often a run asked for each id. */
export function createHistory(known: Known) {
  const counts = new Map<string, { certain: number; possible: number }>();
  const countOf = (name: string) => counts.get(name) ?? { certain: 0, possible: 0 };
  const nthOf = (name: string) => {
    const { certain, possible } = countOf(name);
    return certain === possible ? certain : undefined;
  };
  const namesOf = (request: Request) => {
    const who = authorizationOf(request.credential, known.callerKeys[0]);
    const isPlain = request.misplaced === undefined && request.body === undefined;
    const url = isPlain ? `${who} ${request.target}` : fingerprint(request);
    return {
      id: `${who} ${request.endpoint} ${idOf(request)}`,
      url,
      request: `${url} ${JSON.stringify([request.headers, request.fieldNames])}`,
    };
  };
  return {
    /** @param isCertain whether the target has surely counted it */
    add: (request: Request, isCertain: boolean): void => {
      for (const name of Object.values(namesOf(request))) {
        const { certain, possible } = countOf(name);
        counts.set(name, { certain: certain + (isCertain ? 1 : 0), possible: possible + 1 });
      }
    },
    /** Its place after `add`. */
    nth: (request: Request): Nth => {
      const { id, url, request: same } = namesOf(request);
      return { id: nthOf(id), url: nthOf(url), request: nthOf(same) };
    },
    /** How often its id was asked for, lost requests included. */
    asked: (request: Request): number => countOf(namesOf(request).id).possible,
  };
}

/** The id that a lookup asks for, in lower case; the value as sent if it is none. */
export function idOf({ endpoint, target }: Request): string {
  const { parameter } = endpoints[endpoint];
  const query = target.split(/\?(.*)/s)[1] ?? '';
  const part = query.split('&').find((one) => one.startsWith(`${parameter}=`));
  const raw = part?.slice(parameter.length + 1) ?? query;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' ')).toLowerCase();
  } catch {
    return raw;
  }
}
