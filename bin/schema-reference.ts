import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Schema files by the kind of JSON file. */
const schemas = { fixture: 'fixture.schema.json', config: 'config.schema.json' } as const;

/**
 * Returns the `$schema` of a JSON file, for editors: the path to the schema in the nearest `node_modules`,
 * by default in the folder of the file. It begins with `./` or `../`, because some editors resolve
 * other paths from the folder that they have open.
 *
 * @param file path of the file, which need not exist
 */
export function schemaReference(what: keyof typeof schemas, file: string): string {
  const schema = join('node_modules', 'ib-conformance', 'schemas', schemas[what]);
  const folder = dirname(resolve(file));
  let ancestor = folder;
  while (!existsSync(join(ancestor, schema)) && ancestor !== dirname(ancestor)) ancestor = dirname(ancestor);
  const path = existsSync(join(ancestor, schema)) ? relative(folder, join(ancestor, schema)) : schema;
  const url = path.replaceAll('\\', '/');
  return url.startsWith('..') ? url : `./${url}`;
}
