import type { Fixture, FixtureApiKey } from './generated/types.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference to an environment variable: `${NAME}`. */
export const variableReference = /\$\{([^}]*)\}/g;

/** Replaces `${NAME}` in keys with environment variables. Reports missing and invalid variables. */
export function expandKeys(fixture: Fixture, env: Environment) {
  const problems: string[] = [];
  const apiKeys = fixture.apiKeys?.map((apiKey, index) => {
    const key = apiKey.key.replace(variableReference, (_, name: string) => {
      const value = env[name];
      if (value === undefined || value === '')
        problems.push(
          `apiKeys[${index}].key needs the environment variable ${name}, which is not set: export ${name}=…`,
        );
      else if (!/^[!-~]+$/.test(value))
        problems.push(
          `apiKeys[${index}].key: the environment variable ${name} has characters that a header cannot contain (spaces, line ends or non-ASCII)`,
        );
      return value ?? '';
    });
    return { ...apiKey, key };
  });
  return { problems, fixture: { ...fixture, ...(apiKeys && { apiKeys }) } };
}

/**
 * Adds the names that outputs show instead of keys: `<key northwind/active>`. Further keys of the same partner and
 * state get a number.
 */
export function namedKeys<Key extends FixtureApiKey>(apiKeys: readonly Key[]) {
  const seen = new Map<string, number>();
  return apiKeys.map((apiKey) => {
    const described = `${apiKey.partner ?? 'non-partner'}/${apiKey.state}`;
    const nth = (seen.get(described) ?? 0) + 1;
    seen.set(described, nth);
    return { ...apiKey, name: `<key ${described}${nth > 1 ? `/${nth}` : ''}>` };
  });
}
