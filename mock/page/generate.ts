/** Writes the page as one file: `index.html` with inline style and script (`npm run generate`). */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (file: string) => new URL(file, import.meta.url);
const read = (file: string) => readFile(here(file), 'utf8');

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(here('page.tsx'))],
  bundle: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
});
const contents = { style: await read('page.css'), script: outputFiles[0]!.text };
let html = await read('index.html');
for (const [element, text] of Object.entries(contents)) {
  if (text.includes(`</${element}`)) throw new Error(`the ${element} would end too early`);
  html = html.replace(`<${element}></${element}>`, () => `<${element}>\n${text}</${element}>`);
}
await mkdir(here('generated/'), { recursive: true });
await writeFile(here('generated/page.html'), html);
