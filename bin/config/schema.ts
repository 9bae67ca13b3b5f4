import type { Flag } from '../commands/command.ts';
import { kindOf } from './kinds.ts';
import type { Section, Sections } from './sections.ts';

/** JSON Schema of a config file (draft 2020-12). */
export function configSchema(sections: Sections) {
  const parts = Object.entries(sections).map(([name, section]) => [name, sectionSchema(name, section)]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'config.schema.json',
    title: 'Config',
    description:
      'What is not typed: flags of commands. What is typed comes before a variable (IB_CASES for cases), and that before this file.',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(parts) },
  };
}

function sectionSchema(name: string, section: Section) {
  const flags = Object.entries(section).filter(([, { configurable }]) => configurable === undefined);
  return {
    description: `Arguments and flags of ${name}.`,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(flags.map(([flag, spec]) => [flag, flagSchema(spec)])),
  };
}

function flagSchema(flag: Flag) {
  const { describe, isNumber, default: value } = flag;
  return {
    description: describe,
    ...kindOf(flag).schema(flag),
    ...(value === undefined ? {} : { default: isNumber === true ? Number(value) : value }),
  };
}
