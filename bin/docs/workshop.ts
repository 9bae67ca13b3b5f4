import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { begun, ended } from '../testing/child-process.ts';

/** The folder of somebody who follows a page: the package is installed there, and servers run where the page says that they do. */
export interface Workshop {
  readonly folder: string;
  /** Runs a command line as it stands in the page, but for its places of servers. */
  run(line: string): ReturnType<typeof ended>;
  /** Starts what prints `listening on` and a URL, on a free port in place of the page's, and keeps it until the end. */
  serve(line: string): Promise<void>;
  /** A text in which servers are where they are, and not where the page says. */
  placed(line: string): string;
  /** What the last command printed. */
  last(): string;
  write(file: string, text: string): void;
  end(): Promise<void>;
}

/**
 * @param nodeModules the folder that the package is installed in
 * @param env what the commands find in their environment
 * @param places text of the page, and what stands for it: `http://localhost:8080` and the URL of a server that runs
 */
export function workshopWith(
  nodeModules: string,
  env: NodeJS.ProcessEnv,
  places: readonly (readonly [string, string])[],
): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-docs-'));
  symlinkSync(nodeModules, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const found = new Map(places);
  const servers: ChildProcess[] = [];
  let last = '';
  const placed = (line: string) =>
    [...found].reduce((changed, [from, to]) => changed.replaceAll(from, to), line);
  const start = (line: string) =>
    spawn('bash', ['-euo', 'pipefail', '-c', line], {
      cwd: folder,
      env: { ...env, npm_config_offline: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what npx starts ends with it.
      detached: true,
    });

  return {
    folder,
    placed,
    last: () => last,
    async run(line) {
      const child = start(placed(line));
      const how = await ended(child);
      last = how.printed;
      return how;
    },
    async serve(line) {
      const child = start(
        /--port/.test(line) ? line.replace(/--port \d+/, '--port 0') : `${line.trim()} --port 0`,
      );
      servers.push(child);
      const { line: first } = await begun(child);
      found.set('http://127.0.0.1:4010', first.replace('listening on ', ''));
    },
    write(file, content) {
      writeFileSync(join(folder, file), content);
    },
    async end() {
      await Promise.all(
        servers.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, 'exit');
          process.kill(-child.pid!, 'SIGTERM');
          await exited;
        }),
      );
      rmSync(folder, { recursive: true });
    },
  };
}
