// Preloaded with --import. At exit, writes the peak memory of the process (bytes) to PEAK_FILE.
import { readFileSync, writeFileSync } from 'node:fs';

process.on('exit', () => {
  writeFileSync(process.env.PEAK_FILE, String(peakBytes()));
});

/** `maxRSS` of a child includes its parent's memory at the fork. On Linux, VmHWM does not. */
function peakBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kilobytes) * 1024;
}
