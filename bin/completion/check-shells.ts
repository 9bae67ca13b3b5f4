/** The scripts of `completion` in real shells, on a terminal where they want one (`npm run test:completion`). */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';

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
  test(`${shell} completes what is typed`, { skip: missing('script', shell), timeout: 240_000 }, async () => {
    writeFileSync(join(folder, file), [...lines, "PS1='next> '", ''].join('\n'));
    const command = `stty cols 200 rows 50; exec ${start}`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
    try {
      const until = reader(terminal.stdout);
      await until('next> ');
      for (const [line, words] of Object.entries(completed)) {
        // Behind the Tab, at the beginning of the line (Ctrl-A): print its words, each in brackets.
        terminal.stdin.write(`${line}\t\u0001printf '<%s>' \r`);
        const shown = await until('next> ');
        const program = line.startsWith('~') ? join(programs, 'ib-conformance') : 'ib-conformance';
        const printed = [program, ...words].map((word) => `<${word}>`).join('');
        assert.ok(shown.includes(`\n${printed}`) || shown.includes(`\r${printed}`), `${line}: ${shown}`);
      }
    } finally {
      terminal.kill('SIGKILL');
    }
  });

/** Reads on until a text has come, and gives what came with it. */
function reader(stream: Readable): (end: string) => Promise<string> {
  const chunks = stream.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
  let shown = '';
  return async (end) => {
    for (;;) {
      const at = shown.indexOf(end);
      if (at >= 0) {
        const before = shown.slice(0, at);
        shown = shown.slice(at + end.length);
        return before;
      }
      const { value, done } = await chunks.next();
      assert.ok(done !== true, `the shell ended behind: ${shown}`);
      shown += value;
    }
  };
}

describe('fish', { skip: missing('fish') }, () => {
  for (const [line, words] of Object.entries(completed))
    test(`completes ${line}`, async () => {
      const script = `ib-conformance completion fish | source; complete -C '${line.replaceAll('\\', '\\\\')}'`;
      const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', script], {
        cwd: folder,
        env,
      });
      const found = stdout.split('\n').map((text) => text.split('\t')[0]);
      assert.deepEqual(found, words.at(-1) === 'oth' ? [''] : [words.at(-1), '']);
    });
});

/** Why it cannot be tried here, told aloud too. */
function missing(...tools: readonly string[]): string | false {
  const lacking = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (lacking.length === 0) return false;
  process.stderr.write(
    `\n!!! NOT CHECKED: completion in ${tools.at(-1)}, for there is no ${lacking.join(', ')}\n\n`,
  );
  return `there is no ${lacking.join(', ')}`;
}
