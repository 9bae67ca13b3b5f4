// For tests: loaded before a process's own work, writes down at its end how much memory it had at most.
import { readFileSync, writeFileSync } from 'node:fs';

process.on('exit', () => {
  writeFileSync(process.env.PEAK_FILE, String(peakBytes()));
});

/** What the system says of a child may be of its parent, from whom it was split off: Linux tells its own apart. */
function peakBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kilobytes) * 1024;
}
