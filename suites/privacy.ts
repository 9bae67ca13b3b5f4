import { endpoints } from '../schemas/endpoints.ts';
import { header, type Answer } from './answer.ts';
import type { Known } from './known.ts';
import { authorizationOf } from './model/lookup.ts';
import type { Request } from './request.ts';

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** Ids shorter than this are words that an answer may hold for any reason. */
const SHORTEST_TELLING_ID = 4;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words of the interface and of HTTP: a partner or key of such a name cannot be told from them. */
const ordinaryWords = setOf('error status partner json application close keep-alive true false null');

/** Names of fields that hold user data, letters only. */
const userFields = setOf(
  'userid user username email emailaddress firstname lastname fullname phone phonenumber dateofbirth accountid partner partnerid',
);

/** Fields whose values are HTTP's own words, numbers and dates. */
const ordinaryHeaders = setOf(
  'date expires last-modified age cache-control content-length content-type content-encoding connection keep-alive transfer-encoding vary server via etag retry-after allow',
);

/** Messages and values that the interface itself puts into bodies. */
const ownTexts = new Set<string>([
  ...Object.values(endpoints).flatMap(({ messages }) => Object.values(messages)),
  'EXECUTED',
]);

/**
 * Says which user id, key or partner id of the fixture an answer holds that its request did not
 * name; undefined where there is none.
 */
export function foreignData(request: Request, answer: Answer, known: Known): string | undefined {
  const { pattern, names } = secretsOf(known);
  const wordsIn = (text: string) => Array.from(text.matchAll(pattern), ([word]) => word);
  let named: ReadonlySet<string> | undefined;
  for (const [place, text] of placesOf(answer))
    for (const word of wordsIn(text)) {
      const lower = word.toLowerCase();
      const name = known.userById.has(lower) ? `the user id ${word}` : names.get(lower);
      // Most answers hold none.
      named ??= new Set(wordsIn(askedOf(request)).map((one) => one.toLowerCase()));
      if (name !== undefined && !named.has(lower)) return `${name} in ${place}`;
    }
  return undefined;
}

interface Secrets {
  /** Finds ids, and keys and partners as words: not as a part of a longer one or of a host name. */
  readonly pattern: RegExp;
  /** Keys and partners by their words in lower case. */
  readonly names: ReadonlyMap<string, string>;
}

const made = new WeakMap<Known, Secrets>();

/** Made once: every answer of a run comes by here. */
function secretsOf(known: Known): Secrets {
  const before = made.get(known);
  if (before !== undefined) return before;
  const names = new Map(
    [
      ...known.partnerIds.map((id) => [id, `the partner id ${id}`] as const),
      ...known.everyKey.map(({ key, name }) => [key, name] as const),
    ]
      .filter(([word]) => word.length >= SHORTEST_TELLING_ID && !ordinaryWords.has(word.toLowerCase()))
      .map(([word, name]) => [word.toLowerCase(), name]),
  );
  const words = [...names.keys()].map((word) => word.replace(/[^a-z0-9]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?<![\w-]|\w\.)(?:${words.join('|')})(?![\w-]|\.\w)|${uuid}`, 'gi');
  const secrets = { pattern: words.length === 0 ? new RegExp(uuid, 'gi') : pattern, names };
  made.set(known, secrets);
  return secrets;
}

/** All that a request says, as it stands and decoded. */
function askedOf({ target, headers, body = '', credential }: Request): string {
  const parts = [target, ...Object.values(headers), body, authorizationOf(credential, undefined) ?? ''];
  const decoded = parts
    .join('\n')
    .split(/[\n=&?]/)
    .map(decodeSafely);
  return [...parts, ...decoded].join('\n');
}

/** Says what in a deposit result looks like user data; undefined where nothing does. */
export function userData(fields: Readonly<Record<string, unknown>>, known: Known): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (userFields.has(name.replace(/[^a-z]/gi, '').toLowerCase())) return `a field "${name}"`;
    const text = JSON.stringify(value) ?? '';
    for (const [id] of text.matchAll(new RegExp(uuid, 'gi')))
      if (known.userById.has(id.toLowerCase())) return `a user id in "${name}"`;
    if (/[\w.+-]+@[\w-]+\.\w/.test(text)) return `an e-mail address in "${name}"`;
  }
  return undefined;
}

/** Where an answer may hold what is nobody's business: the strings of its JSON, or a text that is none; and its headers. */
const placesOf = (answer: Answer): readonly (readonly [string, string])[] => [
  ['the body', answer.json.ok ? stringsIn(answer.json.value).join('\n') : answer.text],
  ...Object.keys(answer.headers)
    .filter((name) => !ordinaryHeaders.has(name))
    .map((name) => [`the header ${name}`, header(answer, name) ?? ''] as const),
];

/** One list takes them all. */
function stringsIn(value: unknown, found: string[] = []): readonly string[] {
  if (typeof value === 'string') {
    if (!ownTexts.has(value)) found.push(value);
  } else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) {
      if (!Array.isArray(value)) found.push(name);
      stringsIn(item, found);
    }
  return found;
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
