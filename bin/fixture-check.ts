import { catalogue, knowledge } from '../suites/index.ts';
import { loadFixture } from './fixture-file.ts';

/**
 * Checks a fixture file and says what a run with it would leave unjudged.
 *
 * @throws Problem with code `fixture`
 */
export async function checkFixture(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const fixture = await loadFixture(file, env);
  const known = knowledge(fixture);
  const lacks = catalogue.flatMap((requirement) => {
    const lack =
      requirement.kind === 'property' || requirement.kind === 'scenario'
        ? requirement.lacks(known)
        : undefined;
    return lack?.kind === 'unjudged' ? [`  ${requirement.id}: ${lack.words}`] : [];
  });
  const parts = (['partners', 'apiKeys', 'users', 'deposits'] as const).map(
    (part) => `${fixture[part]?.length ?? 0} ${part}`,
  );
  return [
    `${file}: good: ${parts.join(', ')}; limits ${fixture.limits === undefined ? 'not stated' : 'stated'}`,
    ...(lacks.length === 0
      ? ['Every requirement that needs no state hook can be checked with it.']
      : ['It leaves unchecked:', ...lacks]),
    '',
  ].join('\n');
}
