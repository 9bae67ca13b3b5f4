import type { ApiKey } from './world.ts';

/** Takes credentials out of a request target; `unknown` is one that the request presented and nobody knows. */
export type Redact = (target: string, unknown?: string) => string;

/** Parameters that hold a credential by their names, whatever it is. */
const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** Shorter texts would be found in every other target. */
const LEAST = 4;

/** Shorter ones would turn up by chance in what is no Base64 at all. */
const LEAST_ENCODED = 6;

/** How often a target may have been percent-encoded. */
const MOST_ROUNDS = 3;

/** What may be Base64, also that for URLs; it begins anywhere in such a word. */
const ENCODED = /[\w+/-]{8,}/g;

/** A longer word is no credential, and would take long. */
const MOST_ENCODED = 4096;

const alignments = [0, 1, 2, 3] as const;

/** A function that puts the name of each key in the place of its value, also where it is percent-encoded or in Base64. */
export function redactorOf(keys: readonly ApiKey[]): Redact {
  // Longer keys first: one may hold another.
  const known = keys.toSorted((one, other) => other.key.length - one.key.length);
  const encodable = known.filter(({ key }) => key.length >= LEAST_ENCODED);
  const withoutKnown = (text: string) =>
    known.reduce((clean, { key, name }) => (clean.includes(key) ? clean.replaceAll(key, name) : clean), text);
  const withoutPlain = (text: string, unknown?: string) =>
    unknown === undefined || unknown.length < LEAST
      ? withoutKnown(text)
      : withoutKnown(text).replaceAll(unknown, '<unknown key>');
  const keyIn = (decoded: string, unknown?: string) =>
    encodable.find(({ key }) => decoded.includes(key))?.name ??
    (unknown !== undefined && unknown.length >= LEAST_ENCODED && decoded.includes(unknown)
      ? '<unknown key>'
      : undefined);
  const withoutEncoded = (text: string, unknown?: string) =>
    text.replace(ENCODED, (word) => {
      if (word.length > MOST_ENCODED) return word;
      const decoded = alignments.map((at) => Buffer.from(word.slice(at), 'base64').toString('latin1'));
      return keyIn(decoded.join('\n'), unknown) ?? word;
    });
  return (target, unknown) => {
    let shown = target;
    let text = target;
    for (let round = 0; round <= MOST_ROUNDS; round++) {
      const clean = withoutEncoded(withoutPlain(text, unknown), unknown);
      if (clean !== text) shown = clean;
      text = percentDecoded(clean);
      if (text === clean) break;
    }
    return shown.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
    );
  };
}

/** Each percent-encoded character of ASCII decoded, as keys are; the others may be broken, and stay. */
function percentDecoded(text: string): string {
  return text.replace(/%([0-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
