import { readFileSync } from 'node:fs';

function pemOf(name: string) {
  const pem = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { cert: pem, key: pem };
}

/** A self-signed certificate, only for tests. */
export const tls = pemOf('localhost.pem');

/** A certificate that expired in 2020. */
export const expired = pemOf('expired.pem');
