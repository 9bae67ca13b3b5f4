import type { Known, KnownKey } from '../known.ts';

/** Whether a value is a key of the fixture, as inputs hold it. */
const isKey = (value: object): value is KnownKey => 'key' in value && 'name' in value && 'partner' in value;

/**
 * An input as JSON that holds no key: one of the fixture stands by its name, an Authorization header
 * as a shell would write it.
 */
export function encodeInput(input: unknown, redact: (text: string) => string): unknown {
  if (typeof input === 'string') return redact(input);
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map((item) => encodeInput(item, redact));
  if (isKey(input)) return { named: input.name };
  const members = Object.entries(input).filter(([name]) => !(name === 'value' && isHeader(input)));
  return Object.fromEntries(members.map(([name, value]) => [name, encodeInput(value, redact)]));
}

/** The input again, with keys that stand in for the real ones. */
export function decodeInput(encoded: unknown, known: Known, unname: (text: string) => string): unknown {
  if (typeof encoded === 'string') return unname(encoded);
  if (typeof encoded !== 'object' || encoded === null) return encoded;
  if (Array.isArray(encoded)) return encoded.map((item) => decodeInput(item, known, unname));
  const { named } = encoded as { readonly named?: unknown };
  if (named !== undefined) return known.everyKey.find(({ name }) => name === named);
  const members = Object.entries(encoded).map(
    ([name, value]) => [name, decodeInput(value, known, unname)] as const,
  );
  const object = Object.fromEntries(members);
  return isHeader(object) ? { ...object, value: headerValue(object.shell, object.key) } : object;
}

const isHeader = (value: object): value is { readonly shell: string; readonly key?: KnownKey } =>
  'as' in value && value.as === 'header' && 'shell' in value;

/**
 * What a shell would make of it, as far as that needs no shell. A part of the key stands there whole, as it
 * does in the answer that repeats it: a transcript has the key's name for both.
 */
export const headerValue = (shell: string, key: KnownKey | undefined) =>
  key === undefined ? shell : shell.replace(/\$IB_API_KEY|\$\{IB_API_KEY[^}]*\}/g, () => key.key);
