import { endpoints } from '../../schemas/endpoints.ts';
import { authorizationOf } from '../facts-of-request.ts';
import type { Known } from '../known.ts';
import { fingerprint, queryOf, type Request } from '../request.ts';

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

/** How often a name was asked for, and whether an answer was right. */
interface Count {
  /** Without lost and refused requests, and with them. */
  certain: number;
  possible: number;
  wasRight: boolean;
}

/** A run keeps at least so many of the names that it used last. */
const MAX_NAMES = 15_000;

/** Counts how often a run asked for each id. */
export function createHistory(known: Known, most = MAX_NAMES) {
  let counts = new Map<string, Count>();
  let older: ReadonlyMap<string, Count> = new Map();
  const find = (name: string) => counts.get(name) ?? older.get(name);
  const countOf = (name: string): Count => {
    let count = counts.get(name);
    if (count !== undefined) return count;
    count = older.get(name) ?? { certain: 0, possible: 0, wasRight: false };
    if (counts.size >= most) [counts, older] = [new Map(), counts];
    counts.set(name, count);
    return count;
  };
  const countsOf = ({ id, url, name }: Names): Counts => ({
    id: countOf(id),
    url: countOf(url),
    request: countOf(name),
  });
  return {
    /**
     * @param isCertain whether the target has surely counted it
     * @returns its place, and a name for the lookup: other header fields make it another one
     */
    add: (request: Request, isCertain: boolean): { readonly nth: Nth; readonly name: string } => {
      const names = namesOf(request, known);
      const its = countsOf(names);
      for (const count of [its.id, its.url, its.request]) {
        if (isCertain) count.certain++;
        count.possible++;
      }
      return { nth: placeOf(its), name: names.name };
    },
    countOf,
    /** Its place after `add`. */
    nth: (request: Request): Nth => placeOf(countsOf(namesOf(request, known))),
    /** How often its id was asked for, lost requests included. */
    asked: (request: Request): number => find(idNameOf(request, whoAsks(request, known)))?.possible ?? 0,
  };
}

type Names = ReturnType<typeof namesOf>;
type Counts = Readonly<Record<keyof Nth, Count>>;

const nthOf = ({ certain, possible }: Count) => (certain === possible ? certain : undefined);

const placeOf = ({ id, url, request }: Counts): Nth => ({
  id: nthOf(id),
  url: nthOf(url),
  request: nthOf(request),
});

/** Names for the id that a request asks for, for its URL, and for the URL with the header fields; each with the key. */
function namesOf(request: Request, known: Known) {
  const { misplaced, body, target, headers, fieldNames } = request;
  const isPlain = misplaced === undefined && body === undefined;
  const who = whoAsks(request, known);
  const url = isPlain ? `${who} ${target}` : fingerprint(request);
  return { id: idNameOf(request, who), url, name: `${url} ${JSON.stringify([headers, fieldNames])}` };
}

const idNameOf = (request: Request, who: string | undefined) => `${who} ${request.endpoint} ${idOf(request)}`;

/** The key as it is presented. */
const whoAsks = ({ credential }: Request, { callerKeys }: Known) =>
  authorizationOf(credential, callerKeys[0]);

/** The id that a lookup asks for, in lower case; the value as sent if it is none, and empty without one. */
export function idOf(request: Request): string {
  const { parameter } = endpoints[request.endpoint];
  const query = queryOf(request);
  const part = query.split('&').find((one) => one.startsWith(`${parameter}=`));
  const raw = part?.slice(parameter.length + 1) ?? '';
  try {
    return decodeURIComponent(raw.replaceAll('+', ' ')).toLowerCase();
  } catch {
    return raw;
  }
}
