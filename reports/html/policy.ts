import { createHash } from 'node:crypto';
import { source, type Markup } from './markup.ts';

/** The Content-Security-Policy of a page: these styles, by their hashes, and nothing else from anywhere. */
export function policyOf(styles: readonly Markup[]): string {
  const hashes = styles.map((style) => `'sha256-${hashOf(source(style))}'`);
  return `default-src 'none'; style-src ${hashes.join(' ')}; base-uri 'none'; form-action 'none'`;
}

/** Of what stands between the tags. */
function hashOf(element: string): string {
  const text = element.slice(element.indexOf('>') + 1, element.lastIndexOf('<'));
  return createHash('sha256').update(text).digest('base64');
}
