import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { upwards } from './upwards.ts';

/** Schemas of files that people write, by what they describe. */
const schemas = { fixture: 'fixture.schema.json', config: 'config.schema.json' } as const;

/**
 * What a JSON file says as `$schema`, for editors to check it and to complete it: the way from the file
 * to the schema of the package as npm installs it, in the file's folder or in one above. Where it is
 * installed nowhere yet, that of an install beside the file. It begins with `./` or `../`: some editors
 * take other paths as relative to what they have open.
 *
 * @param file that says it; need not be there yet
 */
export function schemaReference(what: keyof typeof schemas, file: string): string {
  const schema = join('node_modules', 'ib-conformance', 'schemas', schemas[what]);
  const folder = dirname(resolve(file));
  const home = upwards(folder).find((one) => existsSync(join(one, schema))) ?? folder;
  const way = relative(folder, join(home, schema)).replaceAll('\\', '/');
  return way.startsWith('..') ? way : `./${way}`;
}
