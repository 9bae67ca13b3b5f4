/** Makes small mistakes in the sources, one at a time, and prints those that no test notices (`npm run mutate`). */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomOf } from '../../../suites/model/covering.ts';
import { root } from '../paths.ts';
import { mutantsOf, mutated, traced, type Mutant } from './mutants.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '320' },
    seed: { type: 'string', default: '1' },
    /** A regular expression of the files to change. */
    files: { type: 'string', default: '' },
    /** Print killed mutants as well, with the tests that killed them. */
    all: { type: 'boolean', default: false },
    /** Leave out the tests in `bin`, which take long, and the generated files. */
    quick: { type: 'boolean', default: false },
  },
});

/** Copies of the repository, each with one mistake at a time. */
const COPIES = 2;
/** Test files that share a process, behind the nearest ones of a mutant, which run alone. */
const [TOGETHER, ALONE] = [12, 2];
/** Files that `npm run generate` writes from the sources of the command line, the requirements and the faults. */
const generators = {
  'bin/dev/docs/generate.ts': 'docs/reference',
  'bin/dev/generate-config-schema.ts': 'schemas',
};
/** Sources of the admin page, which is tested in a browser. */
const page = /^mock\/page\/(?:page|store|text)\.tsx?$/;
const pageTest = 'bin/admin-page.page-test.ts';

interface Place extends Mutant {
  readonly name: number;
  readonly file: string;
}
/** What the tests made of a mutant, and which of them. */
type Fate = readonly [outcome: 'killed' | 'survived' | 'rejected', by: string];

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const all = ['schemas', 'mock', 'suites', 'reports', 'bin']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .toSorted();
const tests = all.filter((file) => /\.(?:page-)?test\.ts$/.test(file));
const notSources = /test\.ts$|\.d\.ts$|^bin\/dev\/|\/(?:testing|generated)\/|^mock\/page\/generate/;
const sources = all.filter((file) => /\.tsx?$/.test(file) && !notSources.test(file));

/** Draws mutants, as many of each kind. */
async function draw(count: number): Promise<readonly Place[]> {
  const next = randomOf(Number(values.seed));
  const kinds: Record<string, Omit<Place, 'name'>[]> = {};
  for (const file of sources.filter((one) => new RegExp(values.files).test(one)))
    for (const mutant of await mutantsOf(file, read(file)))
      (kinds[mutant.kind] ??= []).push({ file, ...mutant });
  const drawn: Place[] = [];
  for (let kind = 0, rest = Object.values(kinds); drawn.length < count && rest.length > 0; kind++) {
    const list = rest[kind % rest.length]!;
    const [place] = list.splice(Math.floor(next() * list.length), 1);
    drawn.push({ name: drawn.length, ...place! });
    rest = rest.filter(({ length }) => length > 0);
  }
  return drawn;
}

function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutate-'));
  for (const name of readdirSync(root).filter((one) => !['node_modules', '.git', 'dist'].includes(one)))
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, '.tmp'));
  return copy;
}

/** Runs a program in a copy; ends it once a test fails. */
async function passes(copy: string, argv: readonly string[], timeoutMs: number): Promise<boolean> {
  const env = { ...process.env, CI: '', ALLOW_SKIPS: '1', TMPDIR: join(copy, '.tmp') };
  const child = spawn(process.execPath, argv, {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  // The whole group: tests start processes.
  const stop = () => process.kill(-child.pid!, 'SIGKILL');
  const timer = setTimeout(stop, timeoutMs);
  child.stdout.on('data', (text: Buffer) => {
    if (/^\s*not ok /m.test(String(text))) stop();
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  return code === 0;
}

function test(copy: string, files: readonly string[], timeoutMs: number): Promise<boolean> {
  const entry = join(copy, '.tmp', 'tests.mjs');
  writeFileSync(entry, files.map((file) => `import ${JSON.stringify(join(copy, file))};\n`).join(''));
  return passes(copy, ['--import', 'tsx', '--test-reporter=tap', entry], timeoutMs);
}

interface Run {
  readonly file: string;
  readonly tookMs: number;
  readonly reached: ReadonlySet<number>;
}

/** Runs tests, each file alone, and sees which mutants it reaches. Leaves out those that fail anyhow. */
async function trace(
  copies: readonly string[],
  stage: readonly string[],
  places: readonly Place[],
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const rest = stage.values();
  const work = async (copy: string) => {
    const log = join(copy, '.tmp', 'reached');
    for (const file of new Set(places.map((place) => place.file).filter((one) => !page.test(one)))) {
      const here = places.filter((place) => place.file === file).map((place) => [place.name, place] as const);
      writeFileSync(join(copy, file), traced(read(file), here, log));
    }
    for (const file of rest) {
      const begin = performance.now();
      const isGreen = await test(copy, [file], 300_000);
      const tookMs = performance.now() - begin;
      const reached = new Set(existsSync(log) ? readFileSync(log, 'utf8').split('\n').map(Number) : []);
      rmSync(log, { force: true });
      if (isGreen) runs.push({ file, tookMs, reached });
      else print(`left out, as it fails without a mistake: ${file}`);
    }
    for (const { file } of places) writeFileSync(join(copy, file), read(file));
  };
  await Promise.all(copies.map(work));
  return runs;
}

/** Whether what is generated in a copy is what is committed. */
async function generatesTheSame(copy: string): Promise<boolean> {
  for (const [generator, folder] of Object.entries(generators)) {
    if (!(await passes(copy, ['--import', 'tsx', generator], 60_000))) return false;
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
      if (
        /\.(?:md|json)$/.test(file) &&
        readFileSync(join(copy, folder, file), 'utf8') !== read(join(folder, file))
      )
        return false;
  }
  return true;
}

/** The tests that notice a mutant; undefined where none does. */
async function killer(
  copy: string,
  { file, name }: Place,
  runs: readonly Run[],
): Promise<string | undefined> {
  const nearness = (one: Run) =>
    one.file === file.replace(/tsx?$/, 'test.ts') ? 0 : dirname(one.file) === dirname(file) ? 1 : 2;
  const sorted = runs
    .filter((one) => one.reached.has(name) || (page.test(file) && one.file === pageTest))
    .toSorted((a, b) => nearness(a) - nearness(b) || a.tookMs - b.tookMs);
  if (sorted.some((one) => one.file === pageTest))
    await passes(copy, ['--import', 'tsx', 'mock/page/generate.ts'], 60_000);
  for (let at = 0; at < sorted.length;) {
    const some = sorted.slice(at, (at += at < ALONE ? 1 : TOGETHER));
    const files = some.map((one) => one.file);
    const timeoutMs = 30_000 + 4 * some.reduce((sum, { tookMs }) => sum + tookMs, 0);
    if (!(await test(copy, files, timeoutMs))) return files.join(' ');
  }
  return undefined;
}

/** What becomes of a mutant that no test notices. */
async function checks(copy: string, { file }: Place): Promise<Fate> {
  const types = ['--incremental', '--tsBuildInfoFile', join(copy, '.tmp', 'types')];
  const project = file.startsWith('mock/page/') ? ['-p', 'mock/page'] : types;
  if (!(await passes(copy, ['node_modules/typescript/bin/tsc', ...project], 120_000)))
    return ['rejected', 'tsc'];
  return values.quick || (await generatesTheSame(copy))
    ? ['survived', '']
    : ['killed', 'npm run check:generated'];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const describe = ({ file, line, kind, start, end, text }: Place) =>
  `${file}:${line}: ${kind}: ${read(file).slice(start, end)} → ${text}`.replaceAll(/\s+/g, ' ').slice(0, 240);

// Others use this machine as well.
setPriority(10);
const places = await draw(Number(values.count));
const copies = Array.from({ length: COPIES }, copyRepository);
const fates = new Map<Place, Fate>();
const survivors = () => places.filter((place) => !fates.has(place));
/** Puts each mutant that is left into a copy, and finds out what becomes of it. */
async function judgeAll(fateOf: (copy: string, place: Place) => Promise<Fate | undefined>): Promise<void> {
  const rest = survivors().values();
  const work = async (copy: string) => {
    for (const place of rest) {
      writeFileSync(join(copy, place.file), mutated(read(place.file), place));
      const fate = await fateOf(copy, place);
      for (const name of [place.file, ...Object.values(generators), 'mock/page/generated'])
        cpSync(join(root, name), join(copy, name), { recursive: true });
      if (fate !== undefined) fates.set(place, fate);
      const [outcome, by] = fate ?? ['left for later', ''];
      if (values.all || outcome === 'survived') print(`${outcome}: ${describe(place)}${by && ` (${by})`}`);
    }
  };
  await Promise.all(copies.map(work));
}

const folderOf = (file: string) => file.split('/')[0]!;
const folders = new Set(places.map(({ file }) => folderOf(file)));
const nearTests = tests.filter((file) => folders.has(folderOf(file)) && folderOf(file) !== 'bin');
// Tests of the whole program take long: they run for what the others let through.
const programTests = values.quick ? [] : tests.filter((file) => folderOf(file) === 'bin');
try {
  for (const stage of [nearTests, programTests]) {
    const runs = await trace(copies, stage, survivors());
    await judgeAll(async (copy, place) => {
      const by = await killer(copy, place, runs);
      return by === undefined ? undefined : ['killed', by];
    });
  }
  await judgeAll(checks);
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
const table = (heads: readonly string[], of: (place: Place) => string) => {
  for (const head of heads) {
    const some = [...fates].flatMap(([place, [outcome]]) => (of(place) === head ? [outcome] : []));
    const killed = some.filter((outcome) => outcome === 'killed').length;
    const counted = killed + some.filter((outcome) => outcome === 'survived').length;
    if (some.length > 0)
      print(
        `${head}: ${killed} of ${counted} killed, ${((killed / counted) * 100).toFixed(1)} %; ${some.length - counted} rejected by tsc`,
      );
  }
};
table([...folders], ({ file }) => folderOf(file));
table(['all'], () => 'all');
