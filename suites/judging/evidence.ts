import { defined } from '../../schemas/values.ts';
import type { RecordedExchange } from '../../schemas/generated/types.ts';
import { carriesSecret, redactorOf, type Redact, type Secret } from '../../schemas/redact.ts';
import type { Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { writtenName, type Request } from '../request.ts';

const MAX_BODY = 2000;

/**
 * Records an exchange as evidence. In the request, a shell variable replaces the key; everywhere else, its name does.
 */
export function recordExchange(
  { request, reply }: Exchange,
  base: string,
  redactKeys: Redact,
  { variables, callerKeys }: Pick<Known, 'variables' | 'callerKeys'>,
): RecordedExchange {
  const redact = withSent(redactKeys, request);
  const { method, target, headers, fieldNames, body } = request;
  const keyOf = ({ credential, misplaced }: Request) => {
    if (credential.as === 'caller') return callerKeys[0];
    return credential.as === 'none' ? misplaced : credential.key;
  };
  const key = keyOf(request);
  /** Replaces $IB_API_KEY by the variable of the key. */
  const named = (text: string) =>
    key === undefined ? text : text.replaceAll('IB_API_KEY', variables.get(key.key)!);
  const variable = (text: string) => named(redact(withVariable(text, request, '$IB_API_KEY')));
  const authorization = shellCredential(request);
  return {
    request: {
      method,
      target: variable(target),
      headers: Object.fromEntries(
        Object.entries(defined({ authorization, ...headers })).map(([name, value]) => [
          writtenName(name, fieldNames),
          name === 'authorization' ? named(value) : variable(value),
        ]),
      ),
      ...(body !== undefined && { body: variable(body) }),
    },
    ...(reply.kind === 'trouble'
      ? { trouble: redact(reply.words) }
      : {
          response: {
            status: reply.status,
            headers: redactedAll(joined(reply.headers), redact),
            body: redact(reply.text).slice(0, MAX_BODY),
          },
        }),
    curl: named(redact(curl(request, base))),
    ...defined({ key: key?.name, trace: reply.trace }),
  };
}

/**
 * Also replaces what a request sent in place of a key, if it is derived from one, and cookies of the target that it
 * sent back: servers repeat them.
 */
export function withSent(redact: Redact, { credential, cookies, headers }: Request): Redact {
  const secrets: Secret[] = [];
  if (credential.as === 'header' && credential.key !== undefined) {
    const { value, key } = credential;
    const sent = value.split(/\s+/).filter((part) => part.length >= MIN_SECRET_LENGTH);
    secrets.push(...sent.map((part) => ({ value: part, name: key.name, owner: key.partner })));
  }
  if (cookies !== undefined && headers['cookie'] !== undefined)
    secrets.push(...partsOf(headers['cookie']).map((value) => ({ value, name: '<cookie of the target>' })));
  if (secrets.length === 0) return redact;
  const redactSent = redactorOf(secrets);
  return (text) => redact(redactSent(text));
}

const joined = (headers: Answer['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.join(', ')]));

/** By keys and headers: it takes a while to prepare the search for secrets. */
const redactors = new WeakMap<Known['everyKey'], Map<string, Redact>>();

/** Returns a function that replaces keys, and secrets in the user's headers, by names. */
export function redactor(
  { everyKey }: Pick<Known, 'everyKey'>,
  headers: Readonly<Record<string, string>> = {},
): Redact {
  const known = redactors.get(everyKey) ?? new Map<string, Redact>();
  redactors.set(everyKey, known);
  const name = JSON.stringify(headers);
  const before = known.get(name);
  if (before !== undefined) return before;
  const made = redactorOf([
    ...everyKey.map(({ key, name: own, partner }) => ({ value: key, name: own, owner: partner })),
    ...secretsInHeaders(headers),
  ]);
  known.set(name, made);
  return made;
}

/** Redacts all strings and property names of a value, at any depth. */
export function redactedAll<Value>(value: Value, redact: Redact): Value {
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return redact(one);
    if (Array.isArray(one)) return one.map(clean);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [redact(name), clean(member)]));
  };
  return clean(value) as Value;
}

/** The request as a command line that needs $IB_API_KEY in its environment. */
function curl(request: Request, base: string): string {
  const { method, target, isAbsolute, headers, fieldNames, body } = request;
  const url = base.replace(/\/+$/, '') + target;
  const nameOf = (name: string) => writtenName(name, fieldNames);
  const quote = (text: string) => `"${withVariable(inQuotes(text), request, undefined, inQuotes)}"`;
  const authorization = shellCredential(request);
  return [
    'curl -gi --path-as-is',
    ...(method === 'GET' ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...(authorization === undefined
      ? []
      : [`-H "${nameOf('Authorization')}${authorization === '' ? ';' : `: ${authorization}`}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${nameOf(name)}: ${value}`)}`),
    ...(body === undefined ? [] : [...(method === 'GET' ? ['-X GET'] : []), `--data-binary ${quote(body)}`]),
    ...(isAbsolute === true ? [`--request-target ${quote(url)}`] : []),
    quote(url),
  ].join(' ');
}

function shellCredential({ credential }: Request): string | undefined {
  if (credential.as === 'none') return undefined;
  if (credential.as === 'header') return credential.shell;
  const scheme = credential.as === 'key' ? credential.scheme : undefined;
  return `${scheme ?? 'Bearer'} $IB_API_KEY`;
}

/** Encoded forms of a key, each with shell code that produces it. The longest form comes first. */
const encodedForms = (key: string) =>
  Object.entries({
    [JSON.stringify(key).slice(1, -1)]: "$(node -p 'JSON.stringify(process.env.IB_API_KEY).slice(1, -1)')",
    [encodeURIComponent(key)]: "$(node -p 'encodeURIComponent(process.env.IB_API_KEY)')",
    [key]: '$IB_API_KEY',
  }).toSorted(([one], [other]) => other.length - one.length);

/** Replaces a misplaced key in the text of a request, in every encoded form. */
function withVariable(
  text: string,
  { misplaced }: Request,
  variable: string | undefined,
  quoted = (value: string) => value,
): string {
  if (misplaced === undefined) return text;
  return encodedForms(misplaced.key).reduce(
    (clean, [written, shell]) => clean.replaceAll(quoted(written), () => variable ?? shell),
    text,
  );
}

const inQuotes = (text: string) => text.replace(/[\\"$`]/g, String.raw`\$&`);

/** Header fields that are no secrets, although their values may look random. */
const HARMLESS_FIELDS =
  /^(?:accept.*|baggage|cache-control|content-.*|date|from|host|if-.*|origin|prefer|referer|sec-.*|traceparent|tracestate|user-agent|via|x-(?:correlation|request|trace)-id)$/i;

/** Minimum length of a value with letters and digits that counts as random. */
const MIN_RANDOM_LENGTH = 16;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Minimum length of a value that is redacted anywhere: shorter ones may be common words. */
const MIN_SECRET_LENGTH = 8;

/**
 * Secrets in the user's headers: all values of fields whose names suggest a secret, and random-looking values
 * of other fields. `x-tenant: staging` is not a secret.
 *
 * @param headers names are in lower case
 */
function secretsInHeaders(headers: Readonly<Record<string, string>>): readonly Secret[] {
  return Object.entries(headers).flatMap(([field, value]) => {
    const parts = partsOf(value);
    const long = parts.filter((part) => part.length >= MIN_SECRET_LENGTH);
    const all = long.length > 0 ? long : parts;
    const isRandom = (part: string) => !HARMLESS_FIELDS.test(field) && looksRandom(part);
    const secret = carriesSecret(field) ? all : parts.filter(isRandom);
    return secret.map((part) => ({ value: part, name: `<header ${field}>` }));
  });
}

/** `session=abc; theme=dark` → `abc`, `dark`; `Bearer abc` → `Bearer`, `abc` */
const partsOf = (value: string): readonly string[] =>
  value.split(/[\s;,]+/).map((part) => part.replace(/^[^=]*=(?=[^=])/, ''));

function looksRandom(part: string): boolean {
  return part.length >= MIN_RANDOM_LENGTH && /[a-z]/i.test(part) && /\d/.test(part) && !UUID.test(part);
}
