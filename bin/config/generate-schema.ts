/** Writes the schema of the config file, `schemas/config.schema.json` (`npm run generate`). */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { commands } from '../commands/index.ts';
import { configSchema } from './schema.ts';
import { sectionsOf } from './sections.ts';

const output = new URL('../../schemas/config.schema.json', import.meta.url);
const text = JSON.stringify(configSchema(sectionsOf(commands)));
await writeFile(output, await format(text, { ...(await resolveConfig(output)), filepath: output.pathname }));
