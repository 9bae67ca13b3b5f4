import { createHash } from 'node:crypto';

/**
 * The Content-Security-Policy of a page that holds its style and its script: these, by their hashes,
 * and nothing else. The page may call its own origin, may not be framed, and cannot make markup of text.
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
  return Array.from(texts, ([, text]) => `'${sha256(text!)}'`).join(' ');
}

const sha256 = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
