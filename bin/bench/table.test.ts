import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spread } from './columns.ts';
import { table } from './table.ts';

const how = {
  date: '2026-11-21T10:00:00.000Z',
  machine: '2 × Processor, linux 6',
  node: 'v20.20.2',
  versions: { undici: '7.30.2' },
  rounds: 3,
  load: [0.12, 2] as const,
};

test('a row for each entrant, and how the figures were taken', () => {
  const part = { rows: 'server', columns: [spread('ms', 'ms')] };
  assert.equal(
    table(part, { ours: [{ ms: 2 }], other: [{ ms: 3 }] }, how),
    `| server | ms |
| --- | --- |
| ours | 2 |
| other | 3 |

Medians of 3 alternating rounds, in brackets the middle half; ratios are of the same round. 2 × Processor, linux 6, Node v20.20.2, undici 7.30.2; 2026-11-21, load average 0.1 to 2.0.
`,
  );
});
