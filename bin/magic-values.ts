import type { MagicValue } from '../mock/magic-values.ts';
import { endpoints } from '../schemas/endpoints.ts';

/**
 * A curl line for each state that the fixture can show.
 *
 * @param isBuiltIn keys of the built-in fixture are no secrets; any other key stands as $IB_API_KEY
 */
export function magicLines(values: readonly MagicValue[], url: string, isBuiltIn: boolean): string {
  const [first] = values;
  if (first === undefined)
    return 'The fixture has no active key of a partner: every request is answered 401.\n';
  const lines = values.map(({ shows, endpoint, id, key }) => {
    const { path, parameter } = endpoints[endpoint];
    const shownKey = isBuiltIn ? key.key : '$IB_API_KEY';
    const comment = isBuiltIn || key === first.key ? '' : `  # with ${key.name}`;
    return `  ${shows.padEnd(28)} curl -i -H "Authorization: Bearer ${shownKey}" "${url}${path}?${parameter}=${id}"${comment}`;
  });
  return `${lines.join('\n')}\n`;
}
