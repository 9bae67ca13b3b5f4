/** Writes the schema of the config file, `schemas/config.schema.json` (`npm run generate`). */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { configSections } from '../command-line.ts';
import type { Flag, Flags } from '../commands/command.ts';
import { TEXT_PATTERN } from '../config.ts';

const text = { type: 'string', pattern: TEXT_PATTERN };

function valueSchema({ array, type, choices, isNumber }: Flag): object {
  if (array === true) return { type: 'array', items: text };
  if (type === 'boolean') return { type: 'boolean' };
  if (choices !== undefined) return { enum: choices };
  return isNumber === true ? { type: 'number' } : text;
}

function flagSchema(flag: Flag): object {
  const { describe, isNumber, default: value } = flag;
  return {
    description: describe,
    ...valueSchema(flag),
    ...(value === undefined ? {} : { default: isNumber === true ? Number(value) : value }),
  };
}

function sectionSchema(command: string, flags: Flags): object {
  const inFile = Object.entries(flags).filter(([, { configurable }]) => configurable === undefined);
  return {
    description: `Arguments and flags of ${command}.`,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(inFile.map(([name, flag]) => [name, flagSchema(flag)])),
  };
}

const sections = Object.entries(configSections).map(([name, flags]) => [name, sectionSchema(name, flags)]);
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'config.schema.json',
  title: 'Config',
  description:
    'Arguments and flags of commands. Variables (IB_CASES for cases) and typed flags override this file.',
  type: 'object',
  additionalProperties: false,
  properties: { $schema: { type: 'string' }, ...Object.fromEntries(sections) },
};
const output = new URL('../../schemas/config.schema.json', import.meta.url);
await writeFile(
  output,
  await format(JSON.stringify(schema), { ...(await resolveConfig(output)), filepath: output.pathname }),
);
