import { presentedKey } from '../catalogue/facts-of-request.ts';
import type { Known } from '../catalogue/known.ts';
import { unknownId } from '../inputs/uuids.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Company, Exchange } from '../scenario-context.ts';

/** Requests that may make a lookup fail that passes alone: caches, and lookups that wait for an equal one. */
function companionsOf(request: Request, known: Known): readonly Company[] {
  const { endpoint } = request;
  const isOurs = presentedKey(known, request).found?.partner === known.partner;
  const [key] = isOurs ? known.otherKeys : known.callerKeys;
  const company = (when: Company['when'], what: string, changes: Partial<Request>): Company => ({
    words: `${when}: ${what}`,
    when,
    request: { ...request, ...changes },
  });
  return [
    ...(key === undefined
      ? []
      : [
          company('meanwhile', 'another partner asks for the same id', { credential: { as: 'key', key } }),
          company('before', "another partner's lookup of the same id", { credential: { as: 'key', key } }),
        ]),
    company('meanwhile', 'the same lookup is sent', {}),
    company('meanwhile', 'another id is asked for', { target: lookupOf(endpoint, unknownId(known)).target }),
    company('before', 'a HEAD for the same URL', { method: 'HEAD' }),
    company('before', 'the same lookup without a key', { credential: { as: 'none' } }),
  ];
}

/** A lookup fails because of another request if so many of so many pass alone, and then fail with it. */
const [FAILING, TRIES] = [4, 5];

/** How to ask for a lookup alone, or with another request, and whether it failed. */
export type Asking = (request: Request, company?: Company) => Promise<boolean>;

/**
 * The other request that makes lookups fail; undefined if none of some common ones does.
 *
 * @param requests that pass alone, in turn: a cache may keep what makes one fail
 */
export async function findCompany(
  requests: readonly Request[],
  known: Known,
  fails: Asking,
): Promise<Company | undefined> {
  const failsWith = async (nth: number) => {
    let [failed, missed] = [0, 0];
    for (let at = 0; at < TRIES && missed <= TRIES - FAILING; at++) {
      const request = requests[at % requests.length]!;
      const isShown = !(await fails(request)) && (await fails(request, companionsOf(request, known)[nth]));
      if (isShown) failed++;
      else missed++;
    }
    return failed >= FAILING;
  };
  const all = companionsOf(requests[0]!, known);
  for (const [nth, company] of all.entries()) if (await failsWith(nth)) return company;
  return undefined;
}

/** Whether there are enough lookups, so that none of them is needed twice. */
export const isEnoughFor = ({ length }: readonly Request[]): boolean => length >= FAILING;

/** Sends a lookup with another request: right after it, or at the same time. */
export async function sendWith(
  send: (request: Request) => Promise<Exchange>,
  request: Request,
  company: Company,
): Promise<Exchange> {
  const other = send(company.request);
  if (company.when === 'before') await other;
  const [exchange] = await Promise.all([send(request), other]);
  return { ...exchange, company };
}
