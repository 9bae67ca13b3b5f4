import { lookIn } from './overlay.ts';
import type { Session } from './session.ts';

/** Longest name of a world. */
const LONGEST = 100;

/** A request's world, and its Authorization without the name of it. */
export interface Addressed {
  readonly name: string;
  readonly authorization: string;
}

/** Whether a text can be the name of a world: what fits into a key behind its `~`. */
export function isWorldName(text: string): boolean {
  return text.length <= LONGEST && /^[!-~]*$/.test(text);
}

/**
 * The world that an Authorization field asks for: `Bearer northwind-key~mine` is the key northwind-key
 * in the world `mine`. Undefined: the main world, as for every key that is known as it stands.
 */
export function addressedWorld(session: Session, authorization: string): Addressed | undefined {
  const [, credential = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  if (lookIn(session.main.world.keys, credential) !== undefined) return undefined;
  for (let at = credential.lastIndexOf('~'); at > 0; at = credential.lastIndexOf('~', at - 1)) {
    const name = credential.slice(at + 1);
    const key = credential.slice(0, at);
    if (name === '' || !isWorldName(name)) continue;
    const added = session.sandboxes.get(name)?.world.keys;
    if (session.facts.keys.has(key) || (added && lookIn(added, key) !== undefined))
      return { name, authorization: authorization.slice(0, at - credential.length) };
  }
  return undefined;
}
