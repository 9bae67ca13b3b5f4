// Ends with 0 where this Node can run the package, by what package.json says under engines.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [, leastMajor, leastMinor] = /^>=(\d+)\.(\d+)$/.exec(engines.node).map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
process.exitCode = major > leastMajor || (major === leastMajor && minor >= leastMinor) ? 0 : 1;
