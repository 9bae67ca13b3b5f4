import { isIP } from 'node:net';
import type { Check } from '../../schemas/generated/types.ts';
import { knownErrors } from '../engine/wire-trouble.ts';
import type { Clock } from '../engine/clock.ts';
import { bad, check, good, unknown, type Finding } from './finding.ts';
import type { Lines, Trust } from './lines.ts';
import { late, within } from './within.ts';

export interface ReachOptions {
  readonly target: URL;
  readonly lines: Lines;
  readonly trust: Trust;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Bound on each step, in ms. */
  readonly stepMs: () => number;
}

/** One step on the way to a target: what has to work before the next one can. */
interface Step {
  readonly subject: string;
  /** What is there where it works. */
  readonly take: (cutOff: AbortSignal) => Promise<string>;
  /** What to do where it does not, by the code of the error. */
  readonly mend: (code: string) => string;
}

/**
 * Goes to a target step by step, short of HTTP: name, connection, TLS. Behind the first step that does
 * not work, the others are unknown.
 */
export async function reach(options: ReachOptions): Promise<readonly Check[]> {
  const checks: Check[] = [];
  let isOpen = true;
  for (const { subject, take, mend } of stepsTo(options)) {
    const finding: Finding = isOpen ? await tried(options, take, mend) : unknown('not tried');
    isOpen = finding.outcome === 'good';
    checks.push(check('reach', subject, finding));
  }
  return checks;
}

function stepsTo({ target, lines, trust }: ReachOptions): readonly Step[] {
  const isTls = target.protocol === 'https:';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port) || (isTls ? 443 : 80);
  const name: Step = {
    subject: 'name',
    take: async () =>
      isIP(host) > 0 ? `${host} is an address` : `${host} is ${(await lines.resolve(host)).join(', ')}`,
    mend: () =>
      'Correct the host in the URL, or see why this machine cannot resolve it (DNS, VPN, hosts file).',
  };
  const connection: Step = {
    subject: 'connection',
    take: async (cutOff) => {
      await lines.connect(host, port, cutOff);
      return `port ${port} accepts connections`;
    },
    mend: () =>
      'Start the server, correct host and port of the URL, or open the way to it (firewall, container port).',
  };
  const tls: Step = {
    subject: 'TLS',
    take: (cutOff) => lines.handshake(host, port, trust, cutOff),
    mend: mendOfTls,
  };
  return isTls ? [name, connection, tls] : [name, connection];
}

async function tried(options: ReachOptions, take: Step['take'], mend: Step['mend']): Promise<Finding> {
  const ms = options.stepMs();
  try {
    const words = await within(options, ms, take);
    return words === late ? bad(`nothing within ${Math.round(ms)} ms`, mend('')) : good(words);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const [words = message] = knownErrors[code] ?? [];
    return bad(code === '' ? words : `${words} (${code})`, mend(code));
  }
}

function mendOfTls(code: string): string {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO')
    return 'Write http://, or the port that speaks TLS.';
  if (code === 'CERT_HAS_EXPIRED' || code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Renew the certificate, or write the host that it is for; --insecure leaves it unchecked.';
  return /CERT|SIGNATURE|ISSUER/.test(code)
    ? 'Give the certificate that it is signed by with --ca, or leave it unchecked with --insecure.'
    : 'See whether the port speaks TLS; where it speaks plain HTTP, write http://.';
}
