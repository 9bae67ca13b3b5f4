import { findsUsers } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import { headerLevels, keyLevels } from '../plan/credential-levels.ts';
import { idOf, type Request } from '../request.ts';
import { shareOf, type Base } from './base.ts';
import type { Probe } from './probe.ts';
import type { Varied } from './conditions.ts';

/** What values fail, and what values pass. */
export interface Values {
  /** `4 of 16 ids`, or `value: has "{"`; undefined if their levels may explain it. */
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
  const { key, header, malformation } = levels;
  const isOneKey = headerLevels[header]!.forms.length === 1 && keyLevels[key]!.drawn === undefined;
  const valueIn = isOneKey ? (one: Request) => idOf(one) || one.target : credentialText;
  // The first failure counts, also if no other lookup failed.
  const isShown = tried.some(({ hasFailed }) => hasFailed);
  const probes = byValue(isShown ? tried : [{ request: failing, hasFailed: true }, ...tried], valueIn);
  const { failed, of } = shareOf(probes);
  if (isRandom || failed === of) return {};
  const some = (isWanted: boolean) =>
    probes.filter(({ hasFailed }) => hasFailed === isWanted).map(({ request }) => request);
  const shown = (isWanted: boolean) =>
    some(isWanted)
      .slice(0, SHOWN)
      .map((one) => (isOneKey ? valueOf(one, known) : credentialText(one).slice(0, MAX_SHOWN)));
  const what = !isOneKey ? 'keys or their forms' : malformation === 'none' ? 'ids' : 'malformed values';
  const shared = commonTo(some(true).map(valueIn), some(false).map(valueIn));
  return {
    ...((isMixed || share.failed < share.of) && {
      words: shared === undefined ? `${failed} of ${of} ${what}` : `value: ${shared}`,
    }),
    ids: { failing: shown(true), passing: shown(false) },
  };
}

/** How a request presents its key, with $KEY for the key. */
function credentialText({ credential, misplaced, headers, target, body = '' }: Request): string {
  if (credential.as === 'header') return credential.shell.replaceAll('IB_API_KEY', 'KEY');
  if (credential.as !== 'none' || misplaced === undefined) return 'Bearer $KEY';
  const places = [...Object.entries(headers).map((one) => one.join(': ')), ...target.split(/[?&]/), body];
  const isIn = (text: string) => text.includes(misplaced.key);
  return (places.find(isIn) ?? target).replaceAll(misplaced.key, '$KEY');
}

/** So many values that fail, and so many that pass, show what they have in common. */
const ENOUGH_VALUES = 3;

/** What all values that fail have in common, and none that passes. */
export function commonTo(failing: readonly string[], passing: readonly string[]): string | undefined {
  if (Math.min(failing.length, passing.length) < ENOUGH_VALUES) return undefined;
  const [example = ''] = failing;
  const lengths = (values: readonly string[]) => values.map(({ length }) => length);
  const [shortest, longest] = [Math.min(...lengths(failing)), Math.max(...lengths(failing))];
  const signs = [...new Set(example.replaceAll(/[a-z\d-]/gi, ''))];
  const traits: readonly (readonly [string, (value: string) => boolean])[] = [
    ...signs.map((sign) => [`has ${JSON.stringify(sign)}`, (value: string) => value.includes(sign)] as const),
    ['has a capital letter', (value) => /[A-Z]/.test(value)],
    [`starts with ${JSON.stringify(example.slice(0, 1))}`, (value) => value[0] === example[0]],
    [`ends with ${JSON.stringify(example.slice(-1))}`, (value) => value.at(-1) === example.at(-1)],
    [`has ${shortest} or more characters`, ({ length }) => length >= shortest],
    [`has at most ${longest} characters`, ({ length }) => length <= longest],
  ];
  return traits.find(([, holds]) => failing.every(holds) && !passing.some(holds))?.[0];
}

/** Each value once. It fails if one of its lookups did. */
function byValue(probes: readonly Probe[], valueIn: (request: Request) => string): readonly Probe[] {
  const found = new Map<string, Probe>();
  for (const one of probes) {
    const value = valueIn(one.request);
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
