import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fixture } from '../../schemas/generated/types.ts';
import { builtInFixture } from '../fixture-file.ts';
import type { Bench } from './part.ts';

/** A file of the built-in fixture that states no limits: a run that knew them would keep to them, for minutes. */
export function builtInWithoutLimits({ folder }: Bench): string {
  const { limits: _, ...fixture } = JSON.parse(readFileSync(builtInFixture, 'utf8')) as Fixture;
  const file = join(folder, 'without-limits.json');
  writeFileSync(file, JSON.stringify(fixture));
  return file;
}

/** Something to ask of a server with a generated fixture. */
export interface Lookups {
  /** Of the first partner. */
  readonly key: string;
  /** Path and query of lookups that find something. */
  readonly targets: readonly string[];
}

/**
 * Lookups over the whole breadth of a fixture that `fixture generate` wrote, an entity a line.
 *
 * @param each of so many of the first partner's users one is asked for, with the deposits of its own that are EXECUTED
 */
export async function lookupsIn(lines: AsyncIterable<string>, each: number): Promise<Lookups> {
  const owners = new Set<string>();
  const targets: string[] = [];
  let [key, partner, nth] = ['', '', 0];
  for await (const line of lines) {
    const [entity] = /\{.*\}/.exec(line.trim()) ?? [];
    if (entity === undefined) continue;
    const fields = JSON.parse(entity) as Readonly<Record<string, string | null>>;
    if (fields['key'] !== undefined) {
      if (key === '') [key, partner] = [fields['key']!, fields['partner']!];
    } else if (fields['reference_id'] !== undefined) {
      if (fields['state'] === 'EXECUTED' && owners.has(fields['user_id']!))
        targets.push(`/api/ib/deposit-check?reference_id=${fields['reference_id']}`);
    } else if (fields['user_id'] !== undefined && fields['partner'] === partner && nth++ % each === 0) {
      owners.add(fields['user_id']!);
      targets.push(`/api/ib/user-status?user_id=${fields['user_id']}`);
    }
  }
  return { key, targets };
}
