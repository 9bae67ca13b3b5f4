import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';
import { begun, ended } from '../child-process.ts';
import { runtime } from './build.ts';
import type { ImageConfig } from './dockerfile.ts';
import { end, firstProcess, start, startBeside, type Sandbox } from './sandbox.ts';

/** An image, to be run without an engine. */
export type Containers = ReturnType<typeof containersOf>;

/**
 * For tests: what runs of an image.
 *
 * @param config how it is run
 * @param root its root folder, which has to be there when something is run
 */
export function containersOf(config: ImageConfig, root: () => string) {
  const sandbox = (more: Partial<Sandbox> = {}): Sandbox => ({
    root: root(),
    isReadOnly: true,
    mounts: runtime(),
    user: config.user,
    folder: config.folder,
    // No HOME, and nothing else that an engine might leave out.
    env: { PATH: '/usr/local/bin:/usr/bin' },
    network: 'own',
    ...more,
  });

  /** The image with a command of its own, or with what stands behind its name. */
  function container(t: TestContext, one: Sandbox, command = config.command): ChildProcess {
    const child = start(one, [...config.entrypoint, ...command]);
    t.after(() => end(child));
    return child;
  }

  /** A mock that listens to everybody, and the id of its process. */
  async function listening(t: TestContext, one: Sandbox, command = config.command) {
    const child = container(t, one, command);
    const { line, complaint } = await begun(child);
    assert.match(line, /^listening on https?:\/\/0\.0\.0\.0:\d+$/);
    return { child, complaint, first: firstProcess(child) };
  }

  const healthOf = (first: number, one: Sandbox, health = config.health) =>
    ended(startBeside(first, one, health));

  return { sandbox, container, listening, healthOf };
}
