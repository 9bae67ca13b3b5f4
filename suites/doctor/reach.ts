import { lookup } from 'node:dns/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Check } from '../../schemas/generated/types.ts';
import type { Clock } from '../engine/clock.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { knownErrors } from '../engine/transport-error.ts';
import type { Known } from '../known.ts';
import type { StateHook } from '../requirement.ts';
import { bad, check, good, unknown, type Finding } from './checks.ts';

/** The network below HTTP. Each function rejects with the system's error. */
export interface Network {
  /** Addresses of a host. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Opens and closes a connection. */
  readonly connect: (host: string, port: number, signal: AbortSignal) => Promise<void>;
  /** The same with TLS; returns the negotiated version. */
  readonly handshake: (
    host: string,
    port: number,
    tls: RunOptions['tls'],
    signal: AbortSignal,
  ) => Promise<string>;
}

export const realNetwork: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: (host, port, signal) => opened(connectPlain({ host, port }), 'connect', signal, () => undefined),
  handshake: (host, port, { ca, insecure }, signal) => {
    const socket = connectTls({
      host,
      port,
      rejectUnauthorized: !insecure,
      ...(ca === undefined ? {} : { ca }),
      // SNI allows names only, no addresses.
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    return opened(socket, 'secureConnect', signal, () => socket.getProtocol() ?? 'TLS');
  },
};

/** Waits for an event of a socket, reads something from it, and closes it in any case. */
async function opened<Result>(
  socket: Socket,
  event: string,
  signal: AbortSignal,
  read: () => Result,
): Promise<Result> {
  const cutOff = () => void socket.destroy(new Error('cut off'));
  signal.addEventListener('abort', cutOff);
  if (signal.aborted) cutOff();
  try {
    return await new Promise<Result>((resolve, reject) => {
      // This listener stays: a late error must not be thrown.
      socket.on('error', reject);
      socket.once(event, () => resolve(read()));
      socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    });
  } finally {
    signal.removeEventListener('abort', cutOff);
    socket.destroy();
  }
}

interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Returned instead of a result after a timeout or an abort. */
export const late = Symbol('late');

/** Runs `work` for at most `ms`; its signal fires after that, and when `signal` does. */
export async function within<Result>(
  { clock, signal }: Waiting,
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | typeof late> {
  if (ms <= 0 || signal.aborted) return late;
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  try {
    return await Promise.race([work(either), clock.sleep(ms, either).then((): typeof late => late)]);
  } finally {
    end.abort();
  }
}

export interface ReachOptions extends Waiting {
  readonly target: URL;
  readonly network: Network;
  readonly tls: RunOptions['tls'];
  /** Timeout of each step, in ms. */
  readonly stepMs: () => number;
}

interface Step {
  readonly subject: string;
  /** Returns what was found. */
  readonly take: (signal: AbortSignal) => Promise<string>;
  /** What to do about an error, by its code. */
  readonly mend: (code: string) => string;
}

/** Checks name, connection and TLS in turn. After the first failure, the rest is unknown. */
export async function reach(options: ReachOptions): Promise<readonly Check[]> {
  const checks: Check[] = [];
  let isOpen = true;
  for (const step of stepsTo(options)) {
    const finding: Finding = isOpen ? await tried(options, step) : unknown('not tried');
    isOpen = finding.outcome === 'good';
    checks.push(check('reach', step.subject, finding));
  }
  return checks;
}

function stepsTo({ target, network, tls }: ReachOptions): readonly Step[] {
  const isTls = target.protocol === 'https:';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port) || (isTls ? 443 : 80);
  const steps: readonly Step[] = [
    {
      subject: 'name',
      take: async () =>
        isIP(host) > 0 ? `${host} is an address` : `${host} is ${(await network.resolve(host)).join(', ')}`,
      mend: () =>
        'Correct the host in the URL, or see why this machine cannot resolve it (DNS, VPN, hosts file).',
    },
    {
      subject: 'connection',
      take: async (signal) => {
        await network.connect(host, port, signal);
        return `port ${port} accepts connections`;
      },
      mend: () =>
        'Start the server, correct host and port of the URL, or open the way to it (firewall, container port).',
    },
    { subject: 'TLS', take: (signal) => network.handshake(host, port, tls, signal), mend: mendOfTls },
  ];
  return isTls ? steps : steps.slice(0, 2);
}

async function tried(options: ReachOptions, { take, mend }: Step): Promise<Finding> {
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

const mendOfHook =
  'Give the URL that takes a POST of { "state": …, "params": …, "action": "setup" or "teardown" } and answers 2xx once it is done.';

/** Whether the state hook answers. The check asks it to undo what was never done, so nothing changes. */
export async function checkHook(
  hook: StateHook,
  known: Known,
  waiting: Waiting,
  ms: number,
): Promise<Finding> {
  const [deposit] = known.pending;
  const key = known.callerKeys.at(-1);
  if (deposit === undefined && key === undefined)
    return unknown('not asked: the fixture has neither a pending deposit nor an active key to ask it about');
  const undo = () =>
    deposit === undefined
      ? hook.change('teardown', 'key revoked', { key: key?.key })
      : hook.change('teardown', 'deposit executed', { reference_id: deposit.reference_id });
  try {
    return (await within(waiting, ms, undo)) === late
      ? bad(`no answer within ${Math.round(ms)} ms`, mendOfHook)
      : good('answers, and takes a teardown');
  } catch (error) {
    const { message, status = 0 } = error as Error & { readonly status?: number };
    // A hook may refuse to undo what was never done. These statuses mean that there is no hook.
    return status >= 400 && ![401, 403, 404, 405].includes(status)
      ? unknown(`${message}, which nobody had set up`)
      : bad(message, mendOfHook);
  }
}
