import { dirname } from 'node:path';

/** A folder and all that it is in, the nearest first. */
export function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}
