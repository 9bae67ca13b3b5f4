import { endpoints } from '../schemas/endpoints.ts';
import { header, type Answer, type Json } from './answer.ts';
import type { Known } from './known.ts';
import type { Request } from './request.ts';

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Ids shorter than this are words that an answer may hold for any reason. */
const SHORTEST_TELLING_ID = 4;

/** Words of the interface and of HTTP: a partner or key of such a name cannot be told from them. */
const ordinaryWords = new Set([
  'error',
  'status',
  'partner',
  'json',
  'application',
  'close',
  'keep-alive',
  'true',
  'false',
  'null',
]);

/** Names of fields that hold user data, letters only. */
const userFields = new Set([
  'userid',
  'user',
  'username',
  'email',
  'emailaddress',
  'firstname',
  'lastname',
  'fullname',
  'phone',
  'phonenumber',
  'dateofbirth',
  'accountid',
  'partner',
  'partnerid',
]);

/**
 * Says which user id, key or partner id of the fixture an answer holds that its request did not
 * name; undefined where there is none.
 */
export function foreignData(request: Request, answer: Answer, known: Known): string | undefined {
  const places = tellingPlaces(answer, known);
  if (places.length === 0) return undefined;
  const asked = [
    request.target,
    ...Object.values(request.headers),
    request.body ?? '',
    credentialText(request),
  ].join('\n');
  const decoded = asked
    .split(/[\n=&?]/)
    .map(decodeSafely)
    .join('\n');
  const wasNamed = (text: string) => holdsWord(asked, text) || holdsWord(decoded, text);
  for (const [place, text] of places) {
    for (const [id] of text.matchAll(uuids)) {
      const user = id.toLowerCase();
      if (known.userById.has(user) && !asked.toLowerCase().includes(user) && !wasNamed(user))
        return `the user id ${id} in ${place}`;
    }
    for (const { key, name } of known.everyKey)
      if (isTelling(key) && holdsWord(text, key) && !wasNamed(key)) return `${name} in ${place}`;
    for (const id of known.partnerIds)
      if (isTelling(id) && holdsWord(text, id) && !wasNamed(id)) return `the partner id ${id} in ${place}`;
  }
  return undefined;
}

const tellers = new WeakMap<Known, RegExp>();

/** Whether a text holds an id, a key or a partner at all, whoever named it: most hold none. */
function mayTell(text: string, known: Known): boolean {
  let teller = tellers.get(known);
  if (teller === undefined) {
    const words = [...known.everyKey.map(({ key }) => key), ...known.partnerIds].filter(isTelling);
    teller = new RegExp([uuids.source, ...words.map(literally)].join('|'), 'i');
    tellers.set(known, teller);
  }
  return teller.test(text);
}

/** Says what in a deposit result looks like user data; undefined where nothing does. */
export function userData(fields: Readonly<Record<string, unknown>>, known: Known): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (userFields.has(name.replace(/[^a-z]/gi, '').toLowerCase())) return `a field "${name}"`;
    const text = JSON.stringify(value) ?? '';
    for (const [id] of text.matchAll(uuids))
      if (known.userById.has(id.toLowerCase())) return `a user id in "${name}"`;
    if (/[\w.+-]+@[\w-]+\.\w/.test(text)) return `an e-mail address in "${name}"`;
  }
  return undefined;
}

/** Fields whose values are HTTP's own words, numbers and dates. */
const ordinaryHeaders = new Set([
  'date',
  'expires',
  'last-modified',
  'age',
  'cache-control',
  'content-length',
  'content-type',
  'content-encoding',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'server',
  'via',
  'etag',
  'retry-after',
  'allow',
]);

/** Messages and values that the interface itself puts into bodies. */
const ownTexts = new Set<string>([
  ...Object.values(endpoints).flatMap(({ messages }) => Object.values(messages)),
  'EXECUTED',
]);

/** Where an answer holds what may be nobody's business: the strings of its JSON, or a text that is none; and its headers. */
function tellingPlaces(answer: Answer, known: Known): (readonly [string, string])[] {
  const places: [string, string][] = [];
  const body = answer.json.ok ? textOf(answer.json) : answer.text;
  if (mayTell(body, known)) places.push(['the body', body]);
  for (const name in answer.headers) {
    if (ordinaryHeaders.has(name)) continue;
    const text = header(answer, name) ?? '';
    if (mayTell(text, known)) places.push([`the header ${name}`, text]);
  }
  return places;
}

const texts = new WeakMap<Json, string>();

/** The strings of a body; every answer of a run comes by here, and those that say the same have one `json`. */
function textOf(json: Json & { readonly ok: true }): string {
  let text = texts.get(json);
  if (text === undefined) {
    text = stringsIn(json.value).join('\n');
    texts.set(json, text);
  }
  return text;
}

/** One list takes them all. */
function stringsIn(value: unknown, found: string[] = []): readonly string[] {
  if (typeof value === 'string') {
    if (!ownTexts.has(value)) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) stringsIn(item, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) {
      found.push(name);
      stringsIn(item, found);
    }
  return found;
}

function credentialText({ credential }: Request): string {
  switch (credential.as) {
    case 'key':
      return credential.key.key;
    case 'header':
      return credential.value;
    case 'caller':
    case 'none':
      return '';
  }
}

const isTelling = (id: string) => id.length >= SHORTEST_TELLING_ID && !ordinaryWords.has(id.toLowerCase());

/** A pattern of the word itself. */
const literally = (word: string) => word.replace(/[^a-z0-9]/gi, String.raw`\$&`);

const patterns = new Map<string, RegExp>();

/** Whether the text holds the word on its own, and not as a part of a longer one or of a host name. */
function holdsWord(text: string, word: string): boolean {
  let pattern = patterns.get(word);
  if (pattern === undefined) {
    pattern = new RegExp(String.raw`(?<![\w-]|\w\.)${literally(word)}(?![\w-]|\.\w)`, 'i');
    patterns.set(word, pattern);
  }
  return pattern.test(text);
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
