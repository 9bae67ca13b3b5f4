import { readFileSync } from 'node:fs';

type Pem = ReturnType<typeof pemOf>;

function pemOf(name: string) {
  const pem = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { cert: pem, key: pem };
}

/** A self-signed certificate, only for tests. */
export const tls = pemOf('localhost.pem');

/** A certificate that expired in 2020. */
export const expired = pemOf('expired.pem');

/** Signed by an intermediate authority, whose root is `root`; `future` is valid from 2100. */
export const [leaf, intermediate, root, future] = ['leaf', 'intermediate', 'root', 'future'].map((name) =>
  pemOf(`${name}.pem`),
) as [Pem, Pem, Pem, Pem];
