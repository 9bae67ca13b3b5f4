import { faults } from '../../mock/faults.ts';
import { suites, type Requirement } from '../../suites/index.ts';
import { slugOf } from './slug.ts';
import { table } from './command-reference.ts';

/** Which faults of the mock break a requirement. */
const faultsOf = (id: string) => Object.entries(faults).filter(([, { fails }]) => fails.includes(id));

/** The page that lists every requirement, as Markdown. */
export function requirementIndex(): string {
  return [
    '# Requirements',
    `What \`verify\` holds a server to. A **required** one that fails makes the server nonconformant, a **recommended** one warns, and what
is **observed** is told and never judged. Ids are a contract: none is ever renamed, or used for something else.`,
    ...Object.entries(suites).flatMap(([suite, requirements]) => [
      `## [${suite}](requirements/${suite}.md)`,
      table(
        ['requirement', 'level', 'what has to hold'],
        requirements.map(({ id, level, title }) => [
          `[\`${id}\`](requirements/${suite}.md#${slugOf(id)})`,
          level,
          title,
        ]),
      ),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

/** The page of a suite, as Markdown: each requirement with its clause, its reading and what has been seen to break it. */
export function suitePage(suite: string, requirements: readonly Requirement[]): string {
  return [
    `# Suite ${suite}`,
    `\`ib-conformance verify <url> --suite ${suite}\` checks these alone. [All requirements](../requirements.md)`,
    ...requirements.flatMap(sectionOf),
  ]
    .join('\n\n')
    .concat('\n');
}

function sectionOf({ id, level, title, clause, reading }: Requirement): readonly string[] {
  const broken = faultsOf(id).map(([fault, { what }]) => `- \`${fault}\`: ${what}`);
  return [
    `## ${id}`,
    `${title}.`,
    `- Level: ${level}\n- Clause: ${clause}${reading === undefined ? '' : `\n- Reading taken: ${reading}`}`,
    ...(broken.length === 0
      ? []
      : ['It fails, as `ib-conformance mock --fault` shows, where', broken.join('\n')]),
  ];
}
