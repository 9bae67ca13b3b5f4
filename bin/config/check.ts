import type { Flag } from '../commands/command.ts';
import { printable } from '../../reports/printable.ts';
import { didYouMean } from '../../schemas/problem.ts';
import { kindOf } from './kinds.ts';
import type { Section, Sections } from './sections.ts';
import { variableOf } from './variable.ts';

/** The objects of a config file, by the names of commands: values by the names of flags. */
export type Contents = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What is wrong with a config file, each with its place, a JSON Pointer; nothing where it is {@link Contents}. */
export function problemsOf(value: unknown, sections: Sections): readonly string[] {
  if (!isObject(value)) return ['needs an object, with the name of a command as key'];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === '$schema') return typeof part === 'string' ? [] : ['/$schema: needs a text'];
    const place = `/${escaped(name)}`;
    const section = Object.hasOwn(sections, name) ? sections[name] : undefined;
    if (section === undefined)
      return [`${place}: is no command that takes a config${nearest(name, Object.keys(sections))}`];
    if (!isObject(part)) return [`${place}: needs an object, with flags as keys`];
    return Object.entries(part).flatMap(([flag, one]) => {
      const problem = problemOf(flag, one, section);
      return problem === undefined ? [] : [`${place}/${escaped(flag)}: ${problem}`];
    });
  });
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A part of a JSON Pointer (RFC 6901), of which not all is shown where it is long. */
const escaped = (part: string) => printable(part.replaceAll('~', '~0').replaceAll('/', '~1'), MOST_SHOWN);

const MOST_SHOWN = 80;

const nearest = (name: string, choices: readonly string[]) =>
  didYouMean(name, choices) || ` (known: ${choices.join(', ')})`;

function problemOf(name: string, value: unknown, section: Section): string | undefined {
  const flag = Object.hasOwn(section, name) ? section[name] : undefined;
  if (flag === undefined) {
    const known = Object.keys(section).filter((other) => section[other]!.configurable === undefined);
    return `is no flag${nearest(name, known)}`;
  }
  if (flag.configurable !== undefined) return elsewhere[flag.configurable](name);
  return kindOf(flag).fits(value, flag) ? undefined : `needs ${kindOf(flag).needs(flag)}`;
}

const elsewhere: Readonly<Record<NonNullable<Flag['configurable']>, (name: string) => string>> = {
  'by variable': (name) => `does not stand in a file: type --${name}, or set ${variableOf(name)}`,
  never: (name) => `is of one run: type --${name}`,
};
