/** Makes what the package carries beside its schemas (`prepack`): the bundle, its declarations, the licences in it. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { bundle } from './bundle.ts';
import { declarations } from './declarations.ts';
import { notices } from './notices.ts';
import { output } from '../dev/paths.ts';

await rm(output, { recursive: true, force: true });
await mkdir(output);
const metafile = await bundle();
await writeFile(`${output}THIRD-PARTY-LICENSES.txt`, `${notices(metafile)}\n`);
declarations();
