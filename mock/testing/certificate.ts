import { readFileSync } from 'node:fs';

function pemOf(name: string) {
  const pem = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { cert: pem, key: pem };
}

/** For tests alone: of nobody, and trusted by nobody. */
export const tls = pemOf('localhost.pem');

/** One that ended in 2020. */
export const expired = pemOf('expired.pem');
