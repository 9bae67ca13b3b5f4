import { findsUsers } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import { headerLevels, keyLevels } from '../plan/credential-levels.ts';
import { idOf, type Request } from '../request.ts';
import { shareOf, type Base } from './base.ts';
import type { Probe } from './probe.ts';
import type { Varied } from './conditions.ts';

/** What values fail, and what values pass. */
export interface Values {
  /** `4 of 16 ids`; undefined if their levels may explain it. */
  readonly words?: string;
  /** Ids that fail and ids that pass, with what the fixture knows of them. */
  readonly ids?: { readonly failing: readonly string[]; readonly passing: readonly string[] };
}

/** Values of each outcome that are shown, and their characters at most. */
const [SHOWN, MAX_SHOWN] = [4, 40];

/**
 * Says how many lookups fail, and of what; nothing if all do, or if the same lookup fails now and then.
 *
 * @param failing the lookup that failed first
 */
export function valuesOf(
  { levels, isRandom, share }: Base,
  { probes: tried, isMixed }: Pick<Varied, 'probes' | 'isMixed'>,
  known: Known,
  failing: Request,
): Values {
  // The first failure counts, also if no other lookup failed.
  const isShown = tried.some(({ hasFailed }) => hasFailed);
  const probes = byId(isShown ? tried : [{ request: failing, hasFailed: true }, ...tried]);
  const { failed, of } = shareOf(probes);
  if (isRandom || failed === of) return {};
  const words = (what: string) => `${failed} of ${of} ${what}`;
  const { key, header, malformation } = levels;
  const isOneKey = headerLevels[header]!.forms.length === 1 && keyLevels[key]!.drawn === undefined;
  const shown = (isWanted: boolean) =>
    probes
      .filter(({ hasFailed }) => hasFailed === isWanted)
      .slice(0, SHOWN)
      .map(({ request }) => valueOf(request, known));
  const isOfValues = isMixed || share.failed < share.of;
  if (!isOneKey) return isOfValues ? { words: words('keys or their forms') } : {};
  return {
    ...(isOfValues && { words: words(malformation === 'none' ? 'ids' : 'malformed values') }),
    ids: { failing: shown(true), passing: shown(false) },
  };
}

/** Each value once. It fails if one of its lookups did. */
function byId(probes: readonly Probe[]): readonly Probe[] {
  const found = new Map<string, Probe>();
  for (const one of probes) {
    const value = idOf(one.request) || one.request.target;
    if (one.hasFailed || !found.has(value)) found.set(value, one);
  }
  return [...found.values()];
}

/** An id with its date and amount. */
function valueOf(request: Request, { userById, depositById }: Known): string {
  const id = idOf(request);
  const isUser = findsUsers(request.endpoint);
  const user = isUser ? userById.get(id) : undefined;
  const deposit = isUser ? undefined : depositById.get(id);
  const facts = [
    user?.date_joined,
    ...(deposit?.state === 'EXECUTED'
      ? [new Date(deposit.executedAt).toISOString(), `${deposit.amountInUsd} USD`]
      : []),
  ].filter((one) => one !== undefined);
  return `${id.slice(0, MAX_SHOWN)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}
