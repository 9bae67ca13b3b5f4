import { endpoints } from '../../schemas/endpoints.ts';
import { header, type Answer } from '../answer.ts';
import { authorizationOf } from './facts-of-request.ts';
import type { Known } from '../known.ts';
import { decoded, fingerprint, lookup, type Request } from '../request.ts';

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const email = /[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{0,190}\w/g;

/** Minimum length of ids to search for: shorter ones occur by chance. */
const MIN_ID_LENGTH = 4;

/** Minimum length of keys that are also found inside longer words, such as entity tags. */
const MIN_EMBEDDED_KEY_LENGTH = 8;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Maximum number of harmless answers that are remembered, and of characters of each. */
const MAX_HARMLESS = 1000;

/** Words of the interface and of HTTP, in lower case. A partner or key with such a name is not searched for. */
const commonWords = setOf(
  'is_under_ib date_joined status executed amountinusd executedat error partner json application close keep-alive true false null bearer origin accept gzip chunked',
);

/** Names that mean user data, letters only: fields, and header fields after an optional X. */
const userNames = setOf(
  'user userid username useremail email emailaddress mail name firstname lastname fullname displayname phone phonenumber mobile dateofbirth',
);

const accountNames = setOf('accountid partner partnerid');

/** Messages and values that the interface itself defines. */
const interfaceTexts = new Set<string>([
  ...Object.values(endpoints).flatMap(({ messages }) => Object.values(messages)),
  'EXECUTED',
]);
const interfaceNumbers = setOf('amountInUsd executedAt');

interface Leak {
  readonly words: string;
  /** Its header field, if any. A value that is the same in all answers is not user data. */
  readonly field?: string;
  /** Whether it is a number, which a counter or a time equals by chance: it counts if it comes twice. */
  readonly isNumber?: boolean;
}

/** A leak, and the exchange that shows it. */
export interface FoundLeak {
  readonly words: string;
  readonly request: Request;
  readonly answer: Answer;
}

/**
 * Watches a run. The returned function checks each answer for user data: a user id, reference id, key or partner id
 * of the fixture that its request did not name, or a name or e-mail address that means user data.
 */
export function watchPrivacy(known: Known): (request: Request, answer: Answer) => FoundLeak | undefined {
  const secrets = secretsOf(known);
  let answers = 0;
  /** The first value of each header field, and the number of answers with it. */
  const fields = new Map<string, { readonly value: string; times: number }>();
  const constantLeaks = new Map<string, FoundLeak>();
  const addresses = createAddresses();
  const numbers = new Set<string>();
  /** Answers in which no request finds anything. Most answers are alike. */
  const harmless = new Set<string>();
  const isConstant = (field: string, { answer }: Pick<FoundLeak, 'answer'>) => {
    const first = fields.get(field);
    return first?.times === answers && first.value === header(answer, field);
  };
  return (request, answer) => {
    // Answers of a front end have other header fields.
    const isOfTarget = request.method === 'GET' && answer.json.ok;
    if (isOfTarget) answers++;
    let text = `${answer.status}`;
    for (const name in answer.headers) {
      const value = header(answer, name)!;
      text += `\n${name}: ${value}`;
      const first = fields.get(name);
      if (!isOfTarget) continue;
      if (first === undefined) fields.set(name, { value, times: 1 });
      else if (first.value === value) first.times++;
    }
    text += `\n\n${answer.text}`;
    if (!harmless.has(text)) {
      const places = placesOf(answer);
      for (const { words, field, isNumber = false } of leaksIn(request, answer, places, secrets)) {
        const isFirst = isNumber && !numbers.has(words);
        numbers.add(words);
        if (isFirst) continue;
        const found = { words, request, answer };
        if (field === undefined || !isConstant(field, found)) return found;
        if (!constantLeaks.has(field)) constantLeaks.set(field, found);
      }
      for (const [place, content, field] of places)
        if (addresses(request, answer, place, content, field !== undefined))
          return { words: `an e-mail address in ${place} that differs between answers`, request, answer };
      // Without any leak for a request that names nothing, there is none for any request.
      const isHarmless = leaksIn(nameless, answer, places, secrets).next().done === true;
      if (isHarmless && text.length < MAX_HARMLESS && !text.includes('@')) {
        // The field Date makes answers differ from those of a second before.
        if (harmless.size === MAX_HARMLESS) harmless.clear();
        harmless.add(text);
      }
    }
    for (const [field, suspect] of constantLeaks) if (!isConstant(field, suspect)) return suspect;
    return undefined;
  };
}

/** So often must equal lookups get their own address again: one of two machines gives the same by chance. */
const MIN_AGAIN = 8;

/** The addresses in a header field: by lookup, and those that came again with it. */
interface FieldAddresses {
  readonly by: Map<string, string>;
  readonly again: Set<string>;
  times: number;
  /** Whether equal lookups got different ones, or a refusal another one. */
  isVarying: boolean;
}

/**
 * Returns a function that says whether a text has an e-mail address of somebody: another one than before, and in a
 * header field one that comes again with the same lookup. What differs between equal lookups, such as a number of a
 * ticket, is nobody's, nor is what comes with a refusal.
 */
function createAddresses() {
  const first = new Map<string, string>();
  const ofFields = new Map<string, FieldAddresses>();
  return (request: Request, { status }: Answer, place: string, text: string, isField: boolean): boolean => {
    const found = text.includes('@') ? text.match(email)?.join() : undefined;
    if (found === undefined) return false;
    const before = first.get(place) ?? found;
    first.set(place, before);
    if (!isField) return before !== found;
    const one = ofFields.get(place) ?? { by: new Map(), again: new Set(), times: 0, isVarying: false };
    ofFields.set(place, one);
    const name = fingerprint(request);
    const same = one.by.get(name);
    one.by.set(name, found);
    one.isVarying ||= (same ?? found) !== found || (status >= 400 && status !== 404 && found !== before);
    if (same === found) one.times++;
    if (same === found) one.again.add(found);
    return !one.isVarying && one.again.size > 1 && one.times >= MIN_AGAIN;
  };
}

const nameless = lookup('user-status', undefined, { credential: { as: 'none' } });

/** User data in an answer that its request did not name. */
function* leaksIn(
  request: Request,
  answer: Answer,
  places: ReturnType<typeof placesOf>,
  { wordsIn, names, partners }: Secrets,
): Generator<Leak> {
  const { credential, misplaced } = request;
  const key = misplaced ?? ('key' in credential ? credential.key : undefined);
  const isOwnPartner = (word: string) => key?.partner?.toLowerCase() === word;
  let requestText: string | undefined;
  let named: ReadonlySet<string> | undefined;
  const isNamed = (word: string) => {
    // Lazy, because most answers need it not.
    named ??= new Set(wordsIn((requestText ??= requestTextOf(request)), true));
    return named.has(word);
  };
  for (const [place, text, field] of places)
    for (const word of wordsIn(text, field === undefined)) {
      const name = names.get(word);
      if (name === undefined || isOwnPartner(word) || isNamed(word)) continue;
      const isInField = field !== undefined && partners.has(word);
      const isNumber = /^\d+$/.test(word);
      yield { words: `${name} in ${place}`, isNumber, ...(isInField ? { field } : {}) };
    }
  const isHarmless = (value: string) => {
    const lower = value.replaceAll(/^[\s"]+|[\s"]+$/g, '').toLowerCase();
    requestText ??= requestTextOf(request);
    return (
      !/\w/.test(lower) ||
      isOwnPartner(lower) ||
      (lower.length >= 8 && requestText.toLowerCase().includes(lower))
    );
  };
  for (const field of Object.keys(answer.headers))
    if (userNames.has(lettersOf(field).replace(/^x/, '')) && !isHarmless(header(answer, field)!))
      yield { words: `the header ${field}, whose name means user data`, field };
  if (!answer.json.ok) return;
  for (const [name, value] of membersOf(answer.json.value)) {
    // In an error body, `name` is the name of the error.
    const isName = answer.status >= 400 && name.toLowerCase() === 'name';
    if (userNames.has(lettersOf(name)) && !isName && !isHarmless(JSON.stringify(value ?? '')))
      yield { words: `a field "${name}" in the body` };
  }
}

interface Secrets {
  /**
   * Finds ids, keys and partners that contain a letter, as whole words, not as part of a host name.
   *
   * @param hasNumbers whether to find partners without a letter too
   */
  readonly wordsIn: (text: string, hasNumbers: boolean) => readonly string[];
  /** Descriptions by word in lower case. */
  readonly names: ReadonlyMap<string, string>;
  readonly partners: ReadonlySet<string>;
}

function secretsOf({ partnerIds, everyKey, userById, depositById }: Known): Secrets {
  const isSearchable = (word: string) => word.length >= MIN_ID_LENGTH && !commonWords.has(word.toLowerCase());
  const partners = partnerIds.filter(isSearchable);
  const keys = everyKey.filter(({ key }) => isSearchable(key));
  const names = new Map([
    ...[...userById.keys()].map((id) => [id, `the user id ${id}`] as const),
    ...[...depositById.keys()].map((id) => [id, `the reference id ${id}`] as const),
    ...partners.map((id) => [id.toLowerCase(), `the partner id ${id}`] as const),
    ...keys.map(({ key, name }) => [key.toLowerCase(), name] as const),
  ]);
  const hasLetter = (word: string) => /\p{L}/u.test(word);
  const escaped = (word: string) => word.replace(/[^a-z0-9]/gi, String.raw`\$&`);
  const wholeWords = (list: readonly string[]) =>
    list.length === 0 ? [] : [String.raw`(?<![\w-]|\w\.)(?:${list.map(escaped).join('|')})(?![\w-]|\.\w)`];
  // The longest comes first: one may be a prefix of another.
  const long = keys.map(({ key }) => key).filter((key) => key.length >= MIN_EMBEDDED_KEY_LENGTH);
  const longestFirst = long.toSorted((a, b) => b.length - a.length).map(escaped);
  const short = keys.map(({ key }) => key).filter((key) => key.length < MIN_EMBEDDED_KEY_LENGTH);
  const pattern = [uuid, ...longestFirst, ...wholeWords([...short, ...partners.filter(hasLetter)])].join('|');
  const [numbers] = wholeWords(partners.filter((id) => !hasLetter(id)));
  const words = new RegExp(pattern, 'gi');
  const patterns = [words, ...(numbers === undefined ? [] : [new RegExp(numbers, 'g')])];
  return {
    wordsIn: (text, hasNumbers) =>
      (hasNumbers ? patterns : [words]).flatMap((one) =>
        Array.from(text.matchAll(one), ([word]) => word.toLowerCase()),
      ),
    names,
    partners: new Set(partners.map((id) => id.toLowerCase())),
  };
}

const lettersOf = (name: string) => name.replace(/[^a-z]/gi, '').toLowerCase();

/** All text of a request, raw and decoded. */
function requestTextOf({ target, headers, body = '', credential }: Request): string {
  const parts = [target, ...Object.values(headers), body, authorizationOf(credential, undefined) ?? ''];
  const texts = parts
    .join('\n')
    .split(/[\n=&?]/)
    .map((text) => decoded(text) ?? text);
  return [...parts, ...texts].join('\n');
}

/** Describes user data in a deposit result; undefined if there is none. */
export function userData(fields: Readonly<Record<string, unknown>>, known: Known): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const letters = lettersOf(name);
    if (userNames.has(letters) || accountNames.has(letters)) return `a field "${name}"`;
    const text = JSON.stringify(value) ?? '';
    for (const [id] of text.matchAll(new RegExp(uuid, 'gi')))
      if (known.userById.has(id.toLowerCase())) return `a user id in "${name}"`;
    if (text.match(email) !== null) return `an e-mail address in "${name}"`;
  }
  return undefined;
}

/** Places in an answer to search: the texts of its JSON or its whole body, and its header fields. */
const placesOf = (answer: Answer): readonly (readonly [place: string, text: string, field?: string])[] => [
  ['the body', answer.json.ok ? textsIn(answer.json.value).join('\n') : answer.text],
  ...Object.keys(answer.headers).map(
    (name) => [`the header ${name}`, header(answer, name) ?? '', name] as const,
  ),
];

/** Names and values in JSON, without those that the interface defines. */
const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' || typeof value === 'number'
    ? [String(value)]
    : [...membersOf(value)].flatMap(([name, item]) => [
        name,
        ...((typeof item === 'string' && !interfaceTexts.has(item)) ||
        (typeof item === 'number' && !interfaceNumbers.has(name))
          ? [String(item)]
          : []),
      ]);

/** Names and values at any depth. Items of a list have an empty name. */
function* membersOf(value: unknown): Generator<readonly [name: string, value: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield [Array.isArray(value) ? '' : name, item];
    yield* membersOf(item);
  }
}
