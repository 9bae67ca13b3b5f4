import { decodeText } from './target.ts';
import type { ApiKey } from './world.ts';

/** Takes credentials out of a request target; `unknown` is one that the request presented and nobody knows. */
export type Redact = (target: string, unknown?: string) => string;

/** Parameters that hold a credential by their names, whatever it is. */
const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** Shorter texts would be found in every other target. */
const LEAST = 4;

/** A function that puts the name of each key in the place of its value, also where it is percent-encoded. */
export function redactorOf(keys: readonly ApiKey[]): Redact {
  // Longer keys first: one may hold another.
  const known = keys.toSorted((one, other) => other.key.length - one.key.length);
  const withoutKnown = (text: string) =>
    known.reduce((clean, { key, name }) => (clean.includes(key) ? clean.replaceAll(key, name) : clean), text);
  const withoutAny = (text: string, unknown?: string) =>
    unknown === undefined || unknown.length < LEAST
      ? withoutKnown(text)
      : withoutKnown(text).replaceAll(unknown, '<unknown key>');
  return (target, unknown) => {
    const decoded = decodeText(target);
    const clean = withoutAny(decoded, unknown);
    const shown = clean === decoded ? target : clean;
    return shown.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
    );
  };
}
