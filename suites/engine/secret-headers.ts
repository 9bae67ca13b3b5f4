import type { Secret } from '../../schemas/secret-forms.ts';

/** Header fields that carry secrets, by what their names hold. */
const TELLING = /auth|bearer|cookie|credential|jwt|key|pass|secret|session|signature|token/i;

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
export function secretsInHeaders(headers: Readonly<Record<string, string>>): readonly Secret[] {
  return Object.entries(headers).flatMap(([field, value]) => {
    const parts = partsOf(value);
    const long = parts.filter((part) => part.length >= LONG);
    const secret = TELLING.test(field)
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
