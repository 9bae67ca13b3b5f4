// Exits with 0 if `engines` in package.json allows this Node, or the version in the argument.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const parse = (version) => version.split('.').map(Number);
const [major, minor, patch] = parse(process.argv[2] ?? process.versions.node);

/** Whether a range such as ^22.12.0 or >=26.0.0 contains the version. */
function contains(range) {
  const [, sign, lowest] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range);
  const [lowestMajor, lowestMinor, lowestPatch] = parse(lowest);
  if (major !== lowestMajor) return sign === '>=' && major > lowestMajor;
  return minor > lowestMinor || (minor === lowestMinor && patch >= lowestPatch);
}

process.exitCode = engines.node.split(' || ').some(contains) ? 0 : 1;
