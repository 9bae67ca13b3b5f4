// Ends with 0 where this Node, or the version that is given, can run the package, by what package.json says under engines.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const numbersOf = (version) => version.split('.').map(Number);
const [major, minor, patch] = numbersOf(process.argv[2] ?? process.versions.node);

/** Whether a range such as ^22.12.0 or >=26.0.0 holds the version. */
function holds(range) {
  const [, sign, least] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range);
  const [leastMajor, leastMinor, leastPatch] = numbersOf(least);
  if (major !== leastMajor) return sign === '>=' && major > leastMajor;
  return minor > leastMinor || (minor === leastMinor && patch >= leastPatch);
}

process.exitCode = engines.node.split(' || ').some(holds) ? 0 : 1;
