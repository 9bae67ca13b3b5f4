/** Checks with tools of users and linters, which are installed for these checks only. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import description from '../../../schemas/openapi.json' with { type: 'json' };
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import { consumer, moduleConsumer, OUTPUT, strictTypes } from './consumers.ts';

const run = promisify(execFile);

/** CONTRIBUTING.md says what they do. */
const tools = [
  '@action-validator/core@0.6.0',
  '@arethetypeswrong/cli@0.18.5',
  '@happy-dom/global-registrator@21.0.4',
  '@hey-api/openapi-ts@0.95.0',
  '@redocly/openapi-core@2.64.0',
  'esbuild@0.28.2',
  'global-jsdom@29.0.0',
  'jsdom@29.1.1',
  'openapi-typescript@7.13.0',
  'publint@0.3.25',
  'typescript@5.9.3',
];

/** A check in the folder with the tools and the package. */
type Check = (folder: string, tarball: string) => Promise<void>;

/** Runs an installed tool. Fails with what it printed. */
const runTool = (folder: string, name: string, ...argv: readonly string[]) =>
  run(join(folder, 'node_modules/.bin', name), [...argv], { cwd: folder }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) =>
      assert.fail(stdout + stderr),
  );

/** Loads an installed tool as a module. */
const load = (folder: string, name: string): unknown => createRequire(join(folder, 'package.json'))(name);

/**
 * Bundles a program that uses every entry point, and runs the bundle in a folder that has nothing else.
 *
 * @param argv arguments of the bundler, with `OUT` as the output folder
 */
const bundles =
  (file: string, name: string, ...argv: readonly string[]): Check =>
  async (folder) => {
    const out = await mkdtemp(join(folder, '../bundle-'));
    await runTool(folder, name, ...argv.map((one) => one.replace('OUT', out)));
    const text = await readFile(join(out, file), 'utf8');
    assert.ok(!text.includes(folder), 'the bundle contains a path of the folder in which it was built');
    const { stdout } = await run(process.execPath, [file], { cwd: out });
    assert.equal(stdout, OUTPUT);
  };

interface ActionLinter {
  readonly validateAction: (text: string) => { readonly errors: readonly unknown[] };
  readonly validateWorkflow: ActionLinter['validateAction'];
}

interface Redocly {
  readonly createConfig: (config: object) => Promise<object>;
  readonly lintFromString: (of: {
    readonly source: string;
    readonly config: object;
  }) => Promise<readonly { readonly ruleId: string; readonly message: string }[]>;
}

/** Returns the problems that Redocly's linter finds, such as examples that break their schema. */
async function openApiProblems({ createConfig, lintFromString }: Redocly, document: object) {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The interface names no licence.
      'info-license': 'off',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-schema-examples': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** A type error, unless a member has a date, and others have none. */
const usesGeneratedTypes = `
  import type { components } from './lookups.ts';
  import type { MembershipResult } from './client/types.gen.ts';
  type Result = components['schemas']['MembershipResult'];
  export const dates = [
    (one: Result): string => (one.is_under_ib ? one.date_joined : 'none'),
    (one: MembershipResult): string => (one.is_under_ib ? one.date_joined : 'none'),
  ];
`;

const read = (file: string) => readFile(join(root, file), 'utf8');

/** By package: a module that gives the process the globals of a browser, as test runners do. */
const browsers = {
  'happy-dom': `import { GlobalRegistrator } from '@happy-dom/global-registrator';
    GlobalRegistrator.register({ settings: { fetch: { disableSameOriginPolicy: true } } });`,
  jsdom: `import 'global-jsdom/register';`,
};

/** Runs the tests of `createMock` with the globals of a browser. */
const worksIn =
  (name: keyof typeof browsers): Check =>
  async (folder) => {
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, browsers[name]);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const argv = ['--import', 'tsx', '--import', file, '--test', 'mock/server/fetch.test.ts'];
    await run(process.execPath, argv, { cwd: root, env }).catch(({ stdout }: { readonly stdout: string }) =>
      assert.fail(stdout),
    );
  };

const esbuild = ['esbuild', 'consumer.mjs', '--bundle', '--platform=node'] as const;

const checks: Readonly<Record<string, Check>> = {
  'publint finds nothing': async (folder, tarball) => {
    assert.match((await runTool(folder, 'publint', '--strict', tarball)).stdout, /All good/);
  },
  'attw finds nothing': async (folder, tarball) => {
    await runTool(folder, 'attw', tarball, '--profile', 'strict');
  },
  'TypeScript 5 finds all types with `moduleResolution: node`': async (folder) => {
    const old = { module: 'esnext', moduleResolution: 'node', esModuleInterop: true, noEmit: true };
    const compilerOptions = { ...strictTypes, ...old };
    const config = JSON.stringify({ compilerOptions, files: ['consumer.test.ts'] });
    await writeFile(join(folder, 'tsconfig.json'), config);
    await runTool(folder, 'tsc', '--project', '.');
  },
  'action.yml and workflows are valid, and the linter finds errors': async (folder) => {
    const { validateAction, validateWorkflow } = load(folder, '@action-validator/core') as ActionLinter;
    const action = await read('action.yml');
    assert.deepEqual(validateAction(action).errors, []);
    assert.notDeepEqual(validateAction(action.replace('shell: bash', 'shel: bash')).errors, []);
    for (const file of await readdir(join(root, '.github/workflows')))
      assert.deepEqual(validateWorkflow(await read(`.github/workflows/${file}`)).errors, [], file);
  },
  'Redocly finds nothing in the OpenAPI document, and finds a misspelt field and a wrong example': async (
    folder,
  ) => {
    const redocly = load(folder, '@redocly/openapi-core') as Redocly;
    assert.deepEqual(await openApiProblems(redocly, description), []);
    const misspelt = { ...description, paths: { '/': { get: { parametres: [] } } } };
    assert.notDeepEqual(await openApiProblems(redocly, misspelt), []);
    const wrong = structuredClone(description);
    const { examples } = wrong.paths['/api/ib/user-status'].get.responses['200'].content['application/json'];
    Object.assign(examples['a-member'].value, { date_joined: null });
    assert.match((await openApiProblems(redocly, wrong)).join('\n'), /no-invalid-media-type-examples/);
  },
  'code generators know that a member has a date': async (folder) => {
    const document = 'node_modules/ib-conformance/schemas/openapi.json';
    await runTool(folder, 'openapi-typescript', document, '-o', 'lookups.ts');
    await runTool(folder, 'openapi-ts', '-i', document, '-o', 'client', '-p', '@hey-api/typescript');
    await writeFile(join(folder, 'generated.ts'), usesGeneratedTypes);
    const argv = ['--strict', '--noEmit', '--module', 'nodenext', '--allowImportingTsExtensions'] as const;
    await runTool(folder, 'tsc', ...argv, 'generated.ts');
    await writeFile(join(folder, 'generated.ts'), usesGeneratedTypes.replaceAll("'none'", 'one.date_joined'));
    await assert.rejects(runTool(folder, 'tsc', ...argv, 'generated.ts'));
  },
  'createMock works in happy-dom': worksIn('happy-dom'),
  'createMock works in jsdom': worksIn('jsdom'),
  'esbuild bundles it to an ES module': bundles('b.mjs', ...esbuild, '--format=esm', '--outfile=OUT/b.mjs'),
  'esbuild bundles it to CommonJS': bundles('b.cjs', ...esbuild, '--format=cjs', '--outfile=OUT/b.cjs'),
};

/** Installs the tools and the package. Returns why that failed. */
async function install(folder: string, tarball: string): Promise<string | undefined> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await writeFile(join(folder, 'consumer.mjs'), moduleConsumer);
  await writeFile(join(folder, 'consumer.test.ts'), consumer);
  const argv = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tools, tarball];
  return run('npm', argv, { cwd: folder }).then(
    () => undefined,
    ({ stderr }: { readonly stderr: string }) =>
      `tools from the npm registry (${stderr.split('\n', 2).join('; ')})`,
  );
}

/** Registers a test for each check. The tools are installed meanwhile. */
export function checkWithTools(tarball: string): void {
  const parent = mkdtempSync(join(tmpdir(), 'ib-conformance-tools-'));
  const folder = join(parent, 'project');
  const installed = install(folder, tarball);
  describe('with tools from the registry', { concurrency: 2 }, () => {
    after(() => installed.then(() => rm(parent, { recursive: true })));
    for (const [name, check] of Object.entries(checks))
      test(name, async (t) => {
        const missing = await installed;
        if (missing !== undefined) return skipWithout(t, missing);
        await check(folder, tarball);
      });
  });
}
