import type { Fixture } from './generated/types.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference to the environment in a text of a file. */
export const variableReference = /\$\{([^}]*)\}/g;

/** Puts environment variables in the place of `${NAME}` in keys, and says which are missing. */
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
          `apiKeys[${index}].key: the environment variable ${name} holds something that does not fit into a header (spaces, line ends or non-ASCII)`,
        );
      return value ?? '';
    });
    return { ...apiKey, key };
  });
  return { problems, fixture: apiKeys === undefined ? fixture : { ...fixture, apiKeys } };
}
