import { redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import type { ApiKey } from './world.ts';

/** Takes credentials out of a request target; `unknown` is one that the request presented and nobody knows. */
export type Redact = (target: string, unknown?: string) => string;

/** Parameters that hold a credential by their names, whatever it is. */
const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** A function that puts the name of each key in the place of its value, however it is written. */
export function redactorOf(keys: readonly ApiKey[]): Redact {
  const withoutKnown = redactorOfSecrets(
    keys.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
  );
  // Nothing to look for, but names to be left as they are.
  const named = keys.map(({ name }) => ({ value: '', name }));
  return (target, unknown) => {
    const clean = withoutKnown(target);
    const shown =
      unknown === undefined
        ? clean
        : redactorOfSecrets([{ value: unknown, name: '<unknown key>' }, ...named])(clean);
    return shown.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
    );
  };
}
