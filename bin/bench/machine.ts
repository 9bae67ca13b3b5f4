import { cpus, platform, release } from 'node:os';
import { delimiter, join } from 'node:path';

/** What the figures were taken on. */
export const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${platform()} ${release()}`;

/** The command of npm's shims is `node`: the one that runs this. */
export function useThisNode(): void {
  process.env['PATH'] = [join(process.execPath, '..'), process.env['PATH']].join(delimiter);
}
