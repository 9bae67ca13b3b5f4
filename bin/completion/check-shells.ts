/** The scripts of `completion` in real shells, on a terminal where they want one (`npm run test:completion`). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { missingTools, onTerminal } from '../on-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const programs = join(folder, 'programs');
mkdirSync(programs);
symlinkSync(join(import.meta.dirname, '../ib-conformance.mjs'), join(programs, 'ib-conformance'));
mkdirSync(join(folder, 'a folder'));
for (const name of ['a file.json', 'other.json', 'a folder/deep.json']) writeFileSync(join(folder, name), '');
const env = {
  ...process.env,
  PATH: [programs, process.env['PATH']].join(delimiter),
  HOME: folder,
  TERM: 'xterm',
  ZDOTDIR: folder,
};
after(() => rm(folder, { recursive: true }));

/** What is typed, and what a Tab makes of it, by words. */
const completed: Readonly<Record<string, readonly string[]>> = {
  'ib-conformance verif': ['verify'],
  'ib-conformance fixture ch': ['fixture', 'check'],
  'ib-conformance verify --suite rob': ['verify', '--suite', 'robustness'],
  'ib-conformance verify --suite=rob': ['verify', '--suite=robustness'],
  'ib-conformance doctor http://127.0.0.1:8080/x --ins': ['doctor', 'http://127.0.0.1:8080/x', '--insecure'],
  'ib-conformance verify --only auth/user-status/missing --skip auth/deposit-check/revoc':
    'verify --only auth/user-status/missing --skip auth/deposit-check/revocation'.split(' '),
  'ib-conformance mock --fault=amount-ne': ['mock', '--fault=amount-negative'],
  'ib-conformance verify --fixture oth': ['verify', '--fixture', 'other.json'],
  'ib-conformance verify --report json=oth': ['verify', '--report', 'json=other.json'],
  'ib-conformance verify --report=json=oth': ['verify', '--report=json=other.json'],
  'ib-conformance fixture check a\\ fi': ['fixture', 'check', 'a file.json'],
  'ib-conformance verify --seed oth': ['verify', '--seed', 'oth'],
  '~/programs/ib-conformance completion f': ['completion', 'fish'],
};

/** Shells that complete what is typed on a terminal: how they start, and the file that they start with. */
const typed = {
  bash: {
    start: `bash --noprofile --rcfile ${folder}/.bashrc -i`,
    file: '.bashrc',
    lines: ['bind "set bell-style none"', 'eval "$(ib-conformance completion bash)"'],
  },
  zsh: {
    start: 'zsh -d -i',
    file: '.zshrc',
    lines: [
      'bindkey -e; unsetopt beep prompt_sp',
      `autoload -U compinit; compinit -u -d ${folder}/dump`,
      'eval "$(ib-conformance completion zsh)"',
    ],
  },
} as const;

for (const [shell, { start, file, lines }] of Object.entries(typed))
  test(
    `${shell} completes what is typed`,
    { skip: missingTools(`completion in ${shell}`, 'script', shell), timeout: 240_000 },
    async () => {
      writeFileSync(join(folder, file), [...lines, "PS1='next> '", ''].join('\n'));
      const { until, type, end } = onTerminal(start, { cwd: folder, env });
      try {
        await until('next> ');
        for (const [line, words] of Object.entries(completed)) {
          // Behind the Tab, at the beginning of the line (Ctrl-A): print its words, each in brackets.
          type(`${line}\t\u0001printf '<%s>' \r`);
          const shown = await until('next> ');
          const program = line.startsWith('~') ? join(programs, 'ib-conformance') : 'ib-conformance';
          const printed = [program, ...words].map((word) => `<${word}>`).join('');
          assert.ok(shown.includes(`\n${printed}`) || shown.includes(`\r${printed}`), `${line}: ${shown}`);
        }
      } finally {
        end();
      }
    },
  );

describe('fish', { skip: missingTools('completion in fish', 'fish') }, () => {
  const script = join(folder, 'completion.fish');
  before(async () => {
    const { stdout } = await promisify(execFile)('ib-conformance', ['completion', 'fish'], { env });
    writeFileSync(script, stdout);
  });
  for (const [line, words] of Object.entries(completed))
    test(`completes ${line}`, async () => {
      const command = `source ${script}; complete -C '${line.replaceAll('\\', '\\\\')}'`;
      const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', command], {
        cwd: folder,
        env,
      });
      const found = stdout.split('\n').map((text) => text.split('\t')[0]);
      assert.deepEqual(found, words.at(-1) === 'oth' ? [''] : [words.at(-1), '']);
    });
});
