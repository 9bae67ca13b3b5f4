/** Compares the Dockerfile, its part in docs/mock.md and the program. `npm test image` builds and runs the image. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { runCli } from './testing/run-cli.ts';
import { version } from '../version.ts';
import { parsePage } from '../../reports/testing/parsers.ts';
import { root } from './paths.ts';

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const page = readFileSync(join(root, 'docs/mock.md'), 'utf8').split('\n## In a container\n')[1]!;
const yaml = parsePage(page).blocks.find(({ language }) => language === 'yaml')!.text;
const { services } = parse(yaml, { strict: true }) as {
  readonly services: Readonly<Record<'mock' | 'client', Service>>;
};
interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>;
}

const help = async (...command: readonly string[]) => (await runCli([...command, '--help'])).output;

test('the image has the default port and the version of the package', async () => {
  assert.match(dockerfile, /^EXPOSE 4010$/m);
  assert.match(await help('mock'), /--port .*\[default: 4010\]/);
  assert.match(dockerfile, new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm'));
});

test('the compose snippet uses the image, waits for its health check and mounts what it serves', () => {
  const { mock, client } = services;
  assert.ok(page.includes(`docker build -t ${mock.image} .`));
  assert.deepEqual(client.depends_on, { mock: { condition: 'service_healthy' } });
  assert.match(dockerfile, /^HEALTHCHECK /m);
  // The health check learns of no flag.
  assert.ok(!mock.command.includes('--port'));
  const [, target = ''] = mock.volumes[0]!.split(':');
  const workFolder = dockerfile
    .split(/^WORKDIR /m)
    .at(-1)!
    .split('\n')[0]!;
  assert.equal(target, join(workFolder, mock.command.at(-1)!));
  assert.equal(new URL(client.environment['IB_CONFORMANCE_MOCK_URL']!).host, 'mock:4010');
  assert.equal(client.environment['IB_CONFORMANCE_MOCK_KEY'], mock.environment['IB_API_KEY']);
});

const inDockerfile = [...dockerfile.matchAll(/CMD \[(.*)\]/g)].map(([, list]) => JSON.parse(`[${list}]`));
const onPage = [...page.replaceAll('\\\n', '').matchAll(/(?<=\s|')ib-conformance +([a-z][^\n`']*)/g)];
const commands = [
  ...(inDockerfile as string[][]).filter(([program]) => program !== 'node'),
  services.mock.command,
  ...onPage.map(([, words]) => words!.split(/\s+/)),
];

test('the Dockerfile and the page use existing commands and flags', async () => {
  assert.ok(commands.length >= 3);
  const whole = await help();
  for (const [command = '', ...words] of commands) {
    assert.match(whole, new RegExp(`^ {2}ib-conformance ${command}\\b`, 'm'));
    const flags = await help(command);
    for (const flag of words.filter((word) => word.startsWith('--')))
      assert.match(flags, new RegExp(`(?<!\\S)${flag}\\b`), `${command} ${flag}`);
  }
});
