import { Problem } from '../../schemas/problem.ts';
import type { Origin, Origins } from './origin.ts';

/**
 * A problem that speaks of flags which nobody typed, in words that say where they stand:
 * `--cases abc: needs …` becomes `IB_CASES=abc: needs …` or `f.json: /verify/cases: abc: needs …`.
 *
 * @param error what a command threw; all but a line on wrong usage or a wrong fixture stays as it is
 */
export function retold(error: unknown, origins: Origins): unknown {
  if (!(error instanceof Problem) || !(error.code === 'usage' || error.code === 'fixture')) return error;
  const { message, code } = error;
  if (message.includes('\n')) return error;
  const [, flag = ''] = /^--([a-z-]+)/.exec(message) ?? [];
  const subject = origins.has(flag) ? flag : flag === '' ? shownBy(message, origins) : undefined;
  const rest = flag === '' ? ` ${message}` : message.slice(`--${flag}`.length);
  const begun = subject === undefined ? message : begin(origins.get(subject)!, rest);
  const others = new Set([...rest.matchAll(/--([a-z-]+)/g)].map(([, name]) => name!));
  const notes = [...others]
    .filter((name) => name !== subject && origins.has(name))
    .map((name) => `--${name} from ${placeOf(origins.get(name)!)}`);
  return new Problem(code, notes.length === 0 ? begun : `${begun} (${notes.join('; ')})`);
}

/** The name of the value that a message begins with. */
function shownBy(message: string, origins: Origins): string | undefined {
  const shown = [...origins].find(([, { texts }]) => texts.some((text) => message.startsWith(`${text}:`)));
  return shown?.[0];
}

const placeOf = (origin: Origin) =>
  origin.kind === 'file' ? `${origin.file}, ${origin.pointer}` : origin.variable;

/** @param rest what follows the name of the flag in the message: its value, or words */
function begin(origin: Origin, rest: string): string {
  const index = origin.texts.findIndex((text) => rest.startsWith(` ${text}:`));
  if (origin.kind === 'variable')
    return index === -1 ? `${origin.variable}${rest}` : `${origin.variable}=${rest.slice(1)}`;
  const place = origin.isList && index !== -1 ? `${origin.pointer}/${index}` : origin.pointer;
  return `${origin.file}: ${place}${rest.startsWith(':') ? '' : ':'}${rest}`;
}
