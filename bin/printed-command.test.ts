import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { test } from 'node:test';
import { loadCommands, readCommandLine } from './command-line.ts';
import { printedCommands, programName } from './printed-command.ts';
import { quietContext } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { folder, fileOf } = temporaryFolder();
const [verify, doctor, init] = await loadCommands();
const read = (argv: readonly string[]) =>
  readCommandLine(argv, { ...quietContext, env: { TOKEN: 'opensesame' } });

/** Splits a command as a shell does. */
const wordsOf = (line: string) =>
  (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));

const config = fileOf('c.json', { verify: { rate: 5, strict: true, header: ['x-token: ${TOKEN}'] } });
const secret = fileOf('s.json', { verify: { header: ['x-gate: s3cr3t'] } });
const ofConfig = `--header 'x-token: \${TOKEN}' --config ${config} --rate 5`;

/** All that changes what is sent, or how long is waited, in the order of the help. */
const kept =
  `--fixture 'my f.json' --partner 'a b' --header 'x-token: Bearer \${TOKEN}' --ca ca.pem --cert c.pem
  --cert-key k.pem --insecure --wait 30s --state-url http://x/hook --config ${fileOf('empty.json', {})}
  --only auth --only valid/user-status --skip rate-limit --cases 1800
  --replay 'auth/user-status/missing user-status;key=none@14:0' --max-duration 90s --max-requests 20 --rate 0.5
  --concurrency 1 --timeout 20s --grace 500ms --strict --allow-incomplete`.replaceAll(/\n +/g, ' ');
const others = '--baseline b.json --report html=r.html --verbose --seed 7 --log l.jsonl --update-baseline';

/** What is given to `verify`, and what the command that repeats the run has of it, if that is something else. */
const rows: readonly (readonly [given: string, printed?: string])[] = [
  [kept],
  [others, ''],
  ['--cases 9'],
  [`--config ${secret}`],
  ['--partner=-x'],
  [`--config ${config}`, `${ofConfig} --strict`],
  [`--config ${config} --strict=false`, `${ofConfig} --strict=false`],
  ["--header 'x-gate: s3cr3t' --header 'accept: a'", "--header 'x-gate: …' --header 'accept: …'"],
];

for (const [words, printed = words] of rows)
  test(`a printed command repeats ${words.replaceAll(folder, '…')}`, async () => {
    const { given } = await read(['verify', 'http://x', ...wordsOf(words)]);
    const commands = printedCommands(verify!.flags, given, {}, (text) => text);
    assert.equal(commands.rerun, `npx ib-conformance verify http://x ${printed}`.trimEnd());
    assert.doesNotMatch(Object.values(commands).join(), /opensesame|s3cr3t/);
    if (printed.includes('…')) return;
    for (const [name, { flags }] of Object.entries({ rerun: verify!, doctor: doctor!, init: init! })) {
      const again = await read(wordsOf(commands[name as keyof typeof commands]!).slice(2));
      for (const [flag, { notRepeated }] of Object.entries(verify!.flags))
        // The fixture of `init` is a file to write.
        if (notRepeated === undefined && flag in flags && (flag !== 'fixture' || name !== 'init'))
          assert.deepEqual(again.given[flag], given[flag], `${name} --${flag}`);
    }
  });

test('every flag of verify is repeated, or has a reason', () => {
  const flagsIn = (text: string) => [...new Set([...text.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag!))];
  const left = Object.entries(verify!.flags).filter(([, { notRepeated }]) => notRepeated !== undefined);
  assert.deepEqual(new Set(flagsIn(others)), new Set(left.map(([flag]) => flag)));
  assert.deepEqual(new Set([...flagsIn(kept), ...flagsIn(others)]), new Set(Object.keys(verify!.flags)));
});

test('npx stands before the name of the program, unless a shell finds it', () => {
  for (const place of ['bin', 'node_modules/.bin', 'reports/ib-conformance'])
    fileOf(`${place}/ib-conformance`, '');
  for (const [folders, name] of [
    [['bin'], 'ib-conformance'],
    [['nowhere', 'node_modules/.bin', 'bin'], 'ib-conformance'],
    [['node_modules/.bin'], 'npx ib-conformance'],
    [['reports'], 'npx ib-conformance'],
  ] as const)
    assert.equal(programName({ PATH: folders.map((one) => `${folder}/${one}`).join(delimiter) }), name);
  assert.equal(programName({}), 'npx ib-conformance');
});
