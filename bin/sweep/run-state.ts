import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { around, type Change } from '../../mock/deviations/deviate.ts';
import type { Answered } from '../../mock/server/exchange.ts';
import { lastingKey } from '../../mock/server/world.ts';
import { peekSandbox } from '../../mock/control/session.ts';
import { startMock } from '../../mock/server/server.ts';
import { namedKeys } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import { redactorOf } from '../../schemas/redact.ts';
import type { CliContext } from '../cli-context.ts';
import { redTestIn, writerOf } from './output.ts';
import type { RunFacts, SeenRequest } from './requests.ts';
import { runCommand, type Ended } from './run-command.ts';
import { states, type Aim } from './states.ts';

export interface SweepOptions {
  /** The program and its arguments, run without a shell. */
  readonly command: readonly string[];
  readonly fixture: Fixture;
  /** The keys of the fixture are no secrets. */
  readonly arePublicKeys: boolean;
  /** Ids of states. */
  readonly ids: readonly string[];
  /** Accepted rules and states, and the reason of each. */
  readonly allow: ReadonlyMap<string, string>;
  /** Environment variables of the command, and the value of each. */
  readonly env: readonly (readonly [name: string, what: 'url' | 'key'])[];
  readonly parallel: number;
  /** Maximum duration of a run of the command, in ms. */
  readonly maxDuration: number;
  /** Show the output of the command on standard error. */
  readonly showOutput: boolean;
  /** Open advice fails the sweep. */
  readonly strict: boolean;
}

/** What a run of the command showed, and how it ended. */
export interface Run extends RunFacts, Ended {
  /** Number of requests with a changed answer. */
  readonly changed: number;
  /** Name of the first red test, if the output says it. */
  readonly redTest?: string | undefined;
  /** The last lines of the output. */
  readonly lines: readonly string[];
}

/** Number of kept lines of output. */
const MAX_LINES = 1000;
/** Maximum of requests of a run that are judged. */
const MAX_REQUESTS = 50_000;

/** Redacts the key of a run, and the keys of a fixture that are secret. */
export function redactorFor({ arePublicKeys, fixture: { apiKeys = [] } }: SweepOptions, key = '') {
  const secrets = arePublicKeys ? [] : namedKeys(apiKeys).map(({ name, key: value }) => ({ name, value }));
  return redactorOf(key === '' ? secrets : [...secrets, { name: '<key of the run>', value: key }]);
}

/** Another origin: another host name and port. Remembers what it was sent. */
export async function serveElsewhere() {
  const seen: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    seen.push(`${url} ${JSON.stringify(headers)}`);
    response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"Unauthorized"}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    hasSeen: (hasKey: (text: string) => boolean) => seen.some(hasKey),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Adds a random key of the first partner: only what this run sends and prints contains it. */
function withOwnKey(fixture: Fixture) {
  const partner = lastingKey(fixture.apiKeys)?.partner;
  if (partner === undefined) throw wrongUsage('the fixture has no active key of a partner for the client');
  const key = `sweep-${randomBytes(16).toString('hex')}`;
  const apiKeys = [...(fixture.apiKeys ?? []), { key, partner, state: 'active' as const }];
  return { key, fixture: { ...fixture, apiKeys } };
}

/** Proxies must not get the requests to the mock. */
function withoutProxy(env: CliContext['env']) {
  const noProxy = (name: string, other: string) => ({
    [name]: [env[name] || env[other] || [], '127.0.0.1', 'localhost'].flat().join(','),
  });
  return { ...env, ...noProxy('NO_PROXY', 'no_proxy'), ...noProxy('no_proxy', 'NO_PROXY') };
}

/** Wraps a change: calls `onChange` whenever it reads a request as another one, or edits an answer. */
const observeChange =
  (change: Change, onChange: () => void): Change =>
  (from) => {
    let plain: Answered | undefined;
    const unchanged = around(
      (next) =>
        (...given) =>
          (plain = next(...given)),
    );
    const observed = around((next) => (...given) => {
      const answered = next(...given);
      const isRead = plain?.exchange.request !== given[1];
      if (isRead || JSON.stringify(plain?.response) !== JSON.stringify(answered.response)) onChange();
      return answered;
    });
    return observed(change(unchanged(from)));
  };

/**
 * Runs the command against a new mock, in the state with this id or else unchanged.
 *
 * @throws Problem with code `usage` if the command cannot be started, or the fixture has no key for it
 */
export async function runInState(
  id: string,
  options: SweepOptions,
  aim: Aim,
  elsewhere: Awaited<ReturnType<typeof serveElsewhere>>,
  context: Pick<CliContext, 'clock' | 'env' | 'signal' | 'writeError'>,
): Promise<Run> {
  const { arePublicKeys, command, maxDuration, showOutput } = options;
  const { fixture, key } = withOwnKey(options.fixture);
  const redact = redactorFor(options, key);
  const withoutKey = redactorOf([{ name: '', value: key }]);
  const hasKey = (text: string) => withoutKey(text) !== text;
  const { does, zone } = states.get(id) ?? {};
  const change = does?.(aim);
  const [requests, lines]: [SeenRequest[], string[]] = [[], []];
  const output = { lines: 0, withKey: 0, inFailure: 0 };
  let [changed, isEdited] = [0, false];
  let redTest: string | undefined;
  const mock = await startMock({
    fixture,
    clock: context.clock ?? 'real',
    arePublicKeys,
    deviation: change && { id, change: observeChange(change, () => void (isEdited = true)) },
    onExchange: ({ entry, request: { method, target, headers, clientPort } }) => {
      const { authorization, ...others } = headers;
      const keyIn = hasKey(target) ? 'target' : hasKey(JSON.stringify(others)) ? 'field' : undefined;
      const seen = {
        ...entry,
        lookup: `${method} ${target} ${authorization}`,
        connection: clientPort,
        isChanged: isEdited || (zone !== undefined && entry.status === 200),
        isSetUp: peekSandbox(mock.session, entry.world).world.isSetUp,
        keyIn,
      } as const;
      isEdited = false;
      if (seen.isChanged) changed += 1;
      if (requests.length < MAX_REQUESTS) requests.push(seen);
    },
  });
  const onLine = (line: string) => {
    output.lines += 1;
    const text = `${redact(line)}\n`;
    const writer = writerOf(line);
    if (writer !== 'title' && hasKey(line)) output[writer === 'failure' ? 'inFailure' : 'withKey'] += 1;
    redTest ??= redTestIn(redact(line));
    if (showOutput) context.writeError(`${id}: ${text}`);
    if (lines.push(text) > MAX_LINES) lines.shift();
  };
  try {
    const variables = options.env.map(([name, what]) => [name, { url: mock.url, key }[what]] as const);
    const env = { ...withoutProxy(context.env), ...(zone && { TZ: zone }), ...Object.fromEntries(variables) };
    const ended = await runCommand(command, maxDuration, env, context.signal, onLine);
    return { ...ended, redTest, lines, requests, changed, output, isKeyElsewhere: elsewhere.hasSeen(hasKey) };
  } finally {
    await mock.close({ force: true });
  }
}
