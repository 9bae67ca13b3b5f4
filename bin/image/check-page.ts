import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { endpoints } from '../../schemas/endpoints.ts';
import { tls } from '../../mock/test-certificate.ts';
import { loadFixture } from '../fixture-file.ts';
import { root } from '../dev/paths.ts';
import { runtime } from './build.ts';
import { example } from './compose.ts';
import { ended } from '../child-process.ts';
import type { Containers } from './containers.ts';
import { runOptions, type ComposeCall, type RunCall } from './docker-call.ts';
import type { ImageConfig } from './dockerfile.ts';
import { blocks, callsIn, page, reader } from './page.ts';
import { startInNetwork, type Sandbox } from './sandbox.ts';

/** One small suite, so that a run takes no time. */
const small = ['--suite', 'valid', '--seed', '1'];

/** Tests that carry out every command of `docs/container.md`, as it stands there. */
export function checkPage(
  config: ImageConfig,
  { sandbox, container, listening, healthOf }: Containers,
): void {
  const scratch = mkdtempSync(join(tmpdir(), 'ib-conformance-page-'));
  after(() => rmSync(scratch, { recursive: true }));
  const folder = cloneIn(scratch);
  const images = new Set<string>();

  for (const { text, language } of blocks) {
    assert.equal(language, 'sh', text);
    const calls = callsIn(text, folder, join(scratch, 'programs'));
    assert.ok(calls.length > 0, text);
    for (const { name, call } of calls) {
      if (call.kind === 'build') images.add(call.tag);
      test(name, async (t) => {
        // The stages themselves are carried out before all tests.
        if (call.kind === 'build') assertSameFolder(call.context);
        else if (call.kind === 'compose') await composes(t, call);
        else {
          assert.ok(images.has(call.image), `${call.image} is not built before`);
          if (call.command[0] === 'verify') await verifies(t, call);
          else await serves(t, call);
        }
      });
    }
  }

  const assertSameFolder = (context: string) =>
    assert.deepEqual(statSync(join(context, 'Dockerfile')), statSync(join(root, 'Dockerfile')));

  function sandboxOf({ mounts, environment, user }: RunCall, network: Sandbox['network'] = 'own'): Sandbox {
    const { env, ...one } = sandbox({ mounts: [...runtime(), ...mounts], network });
    return { ...one, env: { ...env, ...environment }, ...(user === undefined ? {} : { user }) };
  }

  async function serves(t: TestContext, call: RunCall): Promise<void> {
    const one = sandboxOf(call);
    const command = call.command.length > 0 ? call.command : config.command;
    const { child, first } = await listening(t, one, command);
    assert.equal((await healthOf(first, one, call.health)).code, 0);
    const [{ address, host, container: port } = assert.fail('no port is published')] = call.ports;
    assert.ok(page.includes(`\`http://${address}:${host}\``), 'the page says where it is served');
    // Of all ports the engine leads to one at an address that is not the loopback's first.
    const answer = await askForMember(first, `http://127.0.0.2:${port}`, call);
    assert.match(answer, /^\{"is_under_ib":true,/);
    process.kill(first, config.stopSignal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  }

  async function verifies(t: TestContext, call: RunCall): Promise<void> {
    const network = call.isOnHost ? await machine(t, call) : 'own';
    const { code, printed, complaint } = await ended(
      container(t, sandboxOf(call, network), [...call.command, ...small]),
    );
    assert.equal(code, 0, complaint);
    const reports = call.command.flatMap((word, index, words) =>
      words[index - 1] === '--report' ? [word] : [],
    );
    if (reports.length === 0) assert.match(printed, /^conformant: /m);
    for (const report of reports) {
      const file = join(folder, report.replace(/^\w+=/, ''));
      assert.match(readFileSync(file, 'utf8'), /<testsuites/);
      assert.deepEqual([statSync(file).uid, statSync(file).gid], [reader.uid, reader.gid]);
    }
  }

  /** The network of a machine on which a server listens at the URL that is verified. */
  async function machine(t: TestContext, { command }: RunCall): Promise<number> {
    const url = new URL(command.find((word) => word.startsWith('http')) ?? assert.fail('no URL is verified'));
    const server = ['mock', '--host', '0.0.0.0', '--port', url.port];
    return (await listening(t, sandbox(), server)).first;
  }

  async function composes(t: TestContext, call: ComposeCall): Promise<void> {
    assert.deepEqual(readdirSync(call.folder).toSorted(), ['compose.yaml', 'fixture.json', 'partner.sh']);
    assert.deepEqual([call.isBuilt, call.exitCodeFrom], [true, 'partner']);
    const { mock, partner } = example();
    assertSameFolder(mock.context!);
    const { env } = sandbox();
    const one = sandbox({ mounts: [...runtime(), ...mock.mounts], env: { ...env, ...mock.environment } });
    const { child, first } = await listening(t, one, mock.command);
    assert.equal((await healthOf(first, one)).code, 0);
    // The name of the other container is the engine's to find; the program is a shell's, which the image need not have.
    const { environment } = partner;
    const there = { ...process.env, ...environment, IB_BASE_URL: 'http://127.0.0.1:4010', POLL_SECONDS: '0' };
    const script = partner.mounts.find(({ to }) => to === partner.command[1])!.from;
    const { code, printed, complaint } = await ended(
      startInNetwork(first, there, [partner.command[0]!, script]),
    );
    assert.equal(code, 0, complaint);
    assert.match(printed, /^executed, seen by poll 4: .*"amountInUsd":250\.5/);
    process.kill(first, config.stopSignal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  }

  test('what the page names otherwise are options of docker, or of the mock', async (t) => {
    const { printed: help } = await ended(container(t, sandbox(), ['mock', '--help', '--all']));
    for (const text of named)
      if (text.includes(' ')) runCallOf(text);
      else assert.ok(Object.hasOwn(runOptions, text.slice(2)) || help.includes(` ${text} `), text);
  });

  test('the health check of the page finds a mock with TLS on a port of its own, which that of the image does not', async (t) => {
    const { health } = runCallOf(named.find((text) => text.startsWith('--health-cmd')) ?? assert.fail());
    const files = Object.entries(tls).map(([name, text]) => {
      const from = join(scratch, `${name}.pem`);
      writeFileSync(from, text);
      return { from, to: `${config.folder}/${name}.pem` };
    });
    const one = sandbox({ mounts: [...runtime(), ...files] });
    const command = ['mock', '--host', '0.0.0.0', '--port', new URL(health!.at(-1)!).port];
    const { first } = await listening(t, one, [...command, '--tls-cert', 'cert.pem', '--tls-key', 'key.pem']);
    assert.equal((await healthOf(first, one, health)).code, 0);
    assert.equal((await healthOf(first, one)).code, 1);
  });

  function runCallOf(options: string): RunCall {
    const [{ call } = assert.fail(options)] = callsIn(
      `docker run ${options} image`,
      folder,
      join(scratch, 'programs'),
    );
    return call.kind === 'run' ? call : assert.fail(options);
  }
}

/** The options in the text around the blocks. */
const named = [...page.matchAll(/`(--[^`]+)`/g)].map(([, text]) => text!);

/** The answer about a member of the fixture, which the key that its container was given asks for. */
async function askForMember(
  first: number,
  url: string,
  { mounts, command, environment }: RunCall,
): Promise<string> {
  const file = mounts.find(({ to }) => to.endsWith(`/${command.at(-1)}`))?.from;
  const { apiKeys = [], users = [] } = await loadFixture(file, environment);
  const key = apiKeys.find(({ state, partner }) => state === 'active' && partner !== null);
  const user = users.find(({ partner }) => partner === key?.partner);
  const { path, parameter } = endpoints['user-status'];
  const script =
    'const [url, authorization] = process.argv.slice(1); fetch(url, { headers: { authorization } }).then((one) => one.text()).then(console.log)';
  const target = `${url}${path}?${parameter}=${user!.user_id}`;
  const asked = startInNetwork(first, process.env, [
    process.execPath,
    '-e',
    script,
    target,
    `Bearer ${key!.key}`,
  ]);
  return (await ended(asked)).printed;
}

/** A clone as the reader has it, with a fixture of theirs, whose key is in the environment. */
function cloneIn(scratch: string): string {
  const folder = mkdtempSync(join(scratch, 'a clone '));
  for (const name of ['Dockerfile', 'examples']) symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, 'examples/compose/fixture.json'), join(folder, 'fixture.json'));
  chownSync(folder, reader.uid, reader.gid);
  return folder;
}
