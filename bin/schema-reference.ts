import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Schemas of files that people write, by what they describe. */
const schemas = { fixture: 'fixture.schema.json', config: 'config.schema.json' } as const;

/**
 * The `$schema` of a JSON file, for editors: the path to the schema in `node_modules` of the file's folder
 * or of one above; by default of its folder. It begins with `./` or `../`, because some editors take
 * other paths as relative to what they have open.
 *
 * @param file need not exist
 */
export function schemaReference(what: keyof typeof schemas, file: string): string {
  const schema = join('node_modules', 'ib-conformance', 'schemas', schemas[what]);
  const folder = dirname(resolve(file));
  let home = folder;
  while (!existsSync(join(home, schema)) && home !== dirname(home)) home = dirname(home);
  const way = existsSync(join(home, schema)) ? relative(folder, join(home, schema)) : schema;
  const url = way.replaceAll('\\', '/');
  return url.startsWith('..') ? url : `./${url}`;
}
