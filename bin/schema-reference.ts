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
  const home = upwards(folder).find((one) => existsSync(join(one, schema))) ?? folder;
  const way = relative(folder, join(home, schema)).replaceAll('\\', '/');
  return way.startsWith('..') ? way : `./${way}`;
}

/** A folder and its parents, the nearest first. */
function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}
