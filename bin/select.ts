import type { RunRecord } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { catalogue, suiteOf, suites, type Requirement } from '../suites/index.ts';
import { didYouMean } from '../schemas/problem.ts';

/** Which requirements a run is about. */
export interface Filters {
  readonly suite: readonly string[];
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly hasStateHook: boolean;
}

/**
 * Applies --suite, --only and --skip. Skipped requirements stay in the list, to be reported as such.
 *
 * @throws Problem with code `usage` for a name that there is not, or where nothing is left to check
 */
export function select({ suite, only, skip, hasStateHook }: Filters): {
  readonly requirements: readonly Requirement[];
  readonly skip: ReadonlySet<string>;
  /** The same, as a record says it. */
  readonly selection: NonNullable<RunRecord['selection']>;
} {
  const ids = catalogue.map(({ id }) => id);
  refuseUnknown('suite', suite, Object.keys(suites));
  refuseUnknown('only', only, ids);
  refuseUnknown('skip', skip, ids);
  const skipped = new Set(skip);
  const requirements = catalogue.filter(
    (requirement) =>
      (suite.length === 0 || suite.includes(suiteOf(requirement))) &&
      (only.length === 0 || only.includes(requirement.id)),
  );
  if (
    requirements.every(
      (requirement) => skipped.has(requirement.id) || (!hasStateHook && needsHook(requirement)),
    )
  )
    throw new Problem(
      'usage',
      'the filters leave nothing to check: loosen --suite, --only or --skip (`ib-conformance requirements` lists what there is)',
    );
  return {
    requirements,
    skip: skipped,
    selection: { whole: requirements.length === catalogue.length, skip: [...skipped] },
  };
}

function refuseUnknown(flag: string, names: readonly string[], choices: readonly string[]): void {
  for (const name of names)
    if (!choices.includes(name))
      throw new Problem(
        'usage',
        `--${flag} ${name}: there is no such ${flag === 'suite' ? 'suite' : 'requirement'}${didYouMean(name, choices)} (\`ib-conformance requirements\` lists them)`,
      );
}

const needsHook = (requirement: Requirement) => requirement.kind === 'scenario' && requirement.needsStateHook;
