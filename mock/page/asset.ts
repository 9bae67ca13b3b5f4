import { readFile } from 'node:fs/promises';

/** The page as `npm run generate` writes it. The one place that knows where it is. */
export function loadPage(): Promise<string> {
  return readFile(new URL('generated/page.html', import.meta.url), 'utf8');
}
