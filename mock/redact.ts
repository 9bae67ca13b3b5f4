import { redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import { unescaped } from '../schemas/secret-forms.ts';
import type { ApiKey } from './world.ts';

/** Takes credentials out of a request target; `unknown` is one that the request presented and nobody knows. */
export type Redact = (target: string, unknown?: string) => string;

/** Parameters that hold a credential by their names, whatever it is. */
const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** A longer credential is not looked for in every form and part: for one of 30 KiB that takes seconds. */
const LONGEST = 128;

const UNKNOWN = '<unknown key>';

/** A function that puts the name of each key in the place of its value, however it is written. */
export function redactorOf(keys: readonly ApiKey[]): Redact {
  const withoutKnown = redactorOfSecrets(
    keys.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
  );
  // Nothing to look for, but names to be left as they are.
  const named = keys.map(({ name }) => ({ value: '', name }));
  return (target, unknown) => {
    const clean = withoutKnown(target);
    const shown = unknown === undefined ? clean : withoutUnknown(clean, target, unknown, named);
    return shown.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
    );
  };
}

/** @param clean the target without the known keys, of which the unknown one may hold some */
function withoutUnknown(
  clean: string,
  target: string,
  unknown: string,
  named: readonly { readonly value: string; readonly name: string }[],
): string {
  if (unknown.length <= LONGEST)
    return redactorOfSecrets([{ value: unknown, name: UNKNOWN }, ...named])(clean);
  // Where it begins, nothing of the rest is shown.
  const beginning = unknown.slice(0, 16).toLowerCase();
  const at = clean.toLowerCase().indexOf(beginning);
  if (at >= 0) return clean.slice(0, at) + UNKNOWN;
  const texts = [target, ...unescaped(target).map(({ text }) => text)];
  return texts.some((text) => text.toLowerCase().includes(beginning)) ? UNKNOWN : clean;
}
