import { createHash } from 'node:crypto';

/**
 * Returns the Content-Security-Policy of the page: only its own style and script, by hash, and calls to its own
 * origin. No frames, and no text as markup.
 */
export function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashesOf(html: string, element: 'script' | 'style'): string {
  const texts = html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'));
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return Array.from(texts, ([, text = '']) => hashOf(text)).join(' ');
}
