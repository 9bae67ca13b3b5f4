import { defined } from '../../schemas/defined.ts';
import type { RecordedExchange } from '../../schemas/generated/types.ts';
import { carriesSecret, redactorOf, type Redact } from '../../schemas/redact.ts';
import type { Secret } from '../../schemas/secret-forms.ts';
import type { Known } from '../known.ts';
import type { Exchange } from '../requirement.ts';
import type { Request } from '../request.ts';

/** Bodies are recorded up to this many characters. */
const MAX_BODY = 2000;

/**
 * Writes down an exchange as evidence. The key stands as $IB_API_KEY in the request, and by its name
 * anywhere else.
 */
export function recordExchange({ request, reply }: Exchange, base: string, redact: Redact): RecordedExchange {
  const { method, target, headers, body, credential, misplaced } = request;
  const key = credential.as === 'key' || credential.as === 'header' ? credential.key : misplaced;
  const variable = (text: string) => redact(withVariable(text, request, '$IB_API_KEY'));
  const fields = Object.entries(headers).map(([name, value]) => [name, variable(value)]);
  return {
    request: {
      method,
      target: variable(target),
      headers: defined({ authorization: shellCredential(request), ...Object.fromEntries(fields) }),
      ...defined({ body: body === undefined ? undefined : variable(body) }),
    },
    ...(reply.kind === 'trouble'
      ? { trouble: redact(reply.words) }
      : {
          response: {
            status: reply.status,
            headers: Object.fromEntries(
              Object.entries(reply.headers).map(([name, values]) => [
                redact(name),
                redact(values.join(', ')),
              ]),
            ),
            body: redact(reply.text).slice(0, MAX_BODY),
          },
        }),
    curl: redact(curl(request, base)),
    ...defined({ key: key?.name }),
  };
}

/**
 * A function that puts the name of each key in the place of its value, and does so with the secrets
 * in headers that are sent with every request.
 */
export function redactor(
  { everyKey }: Pick<Known, 'everyKey'>,
  headers: Readonly<Record<string, string>> = {},
): Redact {
  return redactorOf([
    ...everyKey.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
    ...secretsInHeaders(headers),
  ]);
}

/** A value without secrets: in texts at any depth, and in the names of members. */
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
  const { method, target, headers, body } = request;
  const quote = (text: string) => `"${withVariable(inQuotes(text), request, undefined, inQuotes)}"`;
  const authorization = shellCredential(request);
  return [
    'curl -gi --path-as-is',
    ...(method === 'GET' ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...(authorization === undefined ? [] : [`-H "Authorization: ${authorization}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [...(method === 'GET' ? ['-X GET'] : []), `--data-binary ${quote(body)}`]),
    quote(base.replace(/\/+$/, '') + target),
  ].join(' ');
}

function shellCredential({ credential }: Request): string | undefined {
  if (credential.as === 'none') return undefined;
  if (credential.as === 'header') return credential.shell;
  const scheme = credential.as === 'key' ? credential.scheme : undefined;
  return `${scheme ?? 'Bearer'} $IB_API_KEY`;
}

/** How a key may stand in a text, and what writes it so in a shell; the longest first. */
const writtenForms = (key: string) =>
  Object.entries({
    [JSON.stringify(key).slice(1, -1)]: "$(node -p 'JSON.stringify(process.env.IB_API_KEY).slice(1, -1)')",
    [encodeURIComponent(key)]: "$(node -p 'encodeURIComponent(process.env.IB_API_KEY)')",
    [key]: '$IB_API_KEY',
  }).toSorted(([one], [other]) => other.length - one.length);

/** A misplaced key is found again in the text of the request, in whatever form it stands there. */
function withVariable(
  text: string,
  { misplaced }: Request,
  variable: string | undefined,
  quoted = (value: string) => value,
): string {
  if (misplaced === undefined) return text;
  return writtenForms(misplaced.key).reduce(
    (clean, [written, shell]) => clean.replaceAll(quoted(written), () => variable ?? shell),
    text,
  );
}

const inQuotes = (text: string) => text.replace(/[\\"$`]/g, String.raw`\$&`);

/** Header fields whose values look random at times, and tell nothing. */
const HARMLESS =
  /^(?:accept.*|baggage|cache-control|content-.*|date|from|host|if-.*|origin|prefer|referer|sec-.*|traceparent|tracestate|user-agent|via|x-(?:correlation|request|trace)-id)$/i;

/** A value of this many characters, of letters and digits, is taken for random. */
const RANDOM = 16;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A part of a value that is long enough to be hidden wherever it stands. */
const LONG = 8;

/**
 * What must not be shown of headers that a user has sent along: the values of fields whose names tell
 * of secrets, and what looks random in any other. `x-tenant: staging` is none.
 *
 * @param headers by their names in lower case
 */
function secretsInHeaders(headers: Readonly<Record<string, string>>): readonly Secret[] {
  return Object.entries(headers).flatMap(([field, value]) => {
    const parts = partsOf(value);
    const long = parts.filter((part) => part.length >= LONG);
    const secret = carriesSecret(field)
      ? long.length > 0
        ? long
        : parts
      : parts.filter((part) => !HARMLESS.test(field) && looksRandom(part));
    return secret.map((part) => ({ value: part, name: `<header ${field}>` }));
  });
}

/** `session=abc; theme=dark` → `abc`, `dark`; `Bearer abc` → `Bearer`, `abc` */
const partsOf = (value: string): readonly string[] =>
  value.split(/[\s;,]+/).map((part) => part.replace(/^[^=]*=(?=[^=])/, ''));

function looksRandom(part: string): boolean {
  return part.length >= RANDOM && /[a-z]/i.test(part) && /\d/.test(part) && !UUID.test(part);
}
