/** What a run against a mock with one deviation came to. */
export interface Kill {
  readonly kind: 'fault' | 'variant';
  readonly id: string;
  /** Required and recommended requirements that failed. */
  readonly failed: readonly string[];
  /** Those that could neither pass nor fail, or broke, or said nothing. */
  readonly unsettled: readonly string[];
  /** What its entry says must fail: nothing, for a variant. */
  readonly expected: readonly string[];
}

/** Something that the matrix should not hold, in words. */
export type Gap = string;

/**
 * What is wrong with a kill matrix: a deviation that fails other requirements than its entry says,
 * a variant that fails any or leaves one open, a requirement that no fault fails on its own.
 *
 * @param ids every required and recommended requirement
 */
export function gaps(kills: readonly Kill[], ids: readonly string[]): readonly Gap[] {
  const alone = new Set(
    kills.flatMap(({ kind, failed }) => (kind === 'fault' && failed.length === 1 ? failed : [])),
  );
  return [
    ...kills.flatMap(({ kind, id, failed, expected, unsettled }) => [
      ...expected
        .filter((name) => !failed.includes(name))
        .map((name) => `${name} did not catch the ${kind} ${id}`),
      ...failed
        .filter((name) => !expected.includes(name))
        .map((name) => `${name} failed for the ${kind} ${id}, which does not break it`),
      ...(kind === 'variant' ? unsettled.map((name) => `${name} could not judge the variant ${id}`) : []),
    ]),
    ...ids.filter((id) => !alone.has(id)).map((id) => `no fault fails ${id} and nothing else`),
  ];
}

/** The matrix, a line for each requirement, then its gaps. */
export function renderMatrix(kills: readonly Kill[], ids: readonly string[]): string {
  const faults = kills.filter(({ kind }) => kind === 'fault');
  const rows = ids.map((id) => {
    const catchers = faults.filter(({ failed }) => failed.includes(id));
    const alone = catchers.filter(({ failed }) => failed.length === 1);
    const names = (alone.length > 0 ? alone : catchers).slice(0, 3).map((fault) => fault.id);
    return `  ${id.padEnd(46)} ${String(catchers.length).padStart(4)} ${String(alone.length).padStart(6)}  ${names.join(', ')}`;
  });
  const found = gaps(kills, ids);
  const caught = faults.filter(({ failed }) => failed.length > 0).length;
  const variants = kills.length - faults.length;
  return [
    `  ${'requirement'.padEnd(46)} kills  alone  such as`,
    ...rows,
    '',
    `${caught} of ${faults.length} faults caught; ${variants} variants; ${ids.length} requirements`,
    ...(found.length === 0
      ? ['no gaps: every fault fails what it breaks, and every variant passes']
      : found.map((gap) => `gap: ${gap}`)),
    '',
  ].join('\n');
}
