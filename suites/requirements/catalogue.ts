import { endpointNames } from '../../schemas/endpoints.ts';
import { auth } from './auth.ts';
import { foreignIb } from './foreign-ib.ts';
import { invalidUuid } from './invalid-uuid.ts';
import { pending } from './pending.ts';
import { rateLimit } from './rate-limit.ts';
import { everyKind } from '../rules/kinds.ts';
import { tableOf, type Table } from '../rules/table.ts';
import { isLookupRow, type Requirement } from '../rules/requirement.ts';
import { robustness } from './robustness.ts';
import { valid } from './valid.ts';

/** The suites by name, in the order in which reports list them. */
export const suites = {
  valid,
  'invalid-uuid': invalidUuid,
  'foreign-ib': foreignIb,
  pending,
  auth,
  'rate-limit': rateLimit,
  robustness,
} as const satisfies Record<string, readonly Requirement[]>;

/** Every requirement, in the order in which reports list them. */
export const catalogue: readonly Requirement[] = Object.values(suites).flat();

/** The rows about lookups, as a decision table. */
export const table = tableOf(catalogue.filter(isLookupRow));

checkNames(catalogue);
checkEndpoints(table);

/** @throws Error for a row with the name of one endpoint that is about lookups of another one: a bug of ours */
export function checkEndpoints({ coverOf }: Table): void {
  for (const facts of endpointNames.flatMap(everyKind)) {
    const { rows, right } = coverOf(facts);
    const others = endpointNames.filter((name) => name !== facts.endpoint);
    const about = [...rows, ...right.map(({ row }) => row)];
    const stray = about.find(({ id }) => others.some((name) => id.includes(name)));
    if (stray !== undefined) throw new Error(`${stray.id} is about another endpoint: ${facts.kind}`);
  }
}

/** @throws Error for two rows with the same id, and for a row that names an unknown id: a bug of ours */
export function checkNames(rows: readonly Requirement[]): void {
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new Error(`two requirements have the id ${id}`);
    ids.add(id);
  }
  for (const row of rows) {
    const { id, provedBy = [] } = row;
    const refined = 'refines' in row && row.refines !== true ? (row.refines ?? []) : [];
    for (const other of [...provedBy, ...refined])
      if (!ids.has(other)) throw new Error(`${id} names an unknown requirement: ${other}`);
  }
}
