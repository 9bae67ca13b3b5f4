import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RunRecord } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { reports } from './index.ts';
import { judgementOf } from './judgement.ts';
import { worstFirst } from './similar.ts';
import { anyRecord, hostileText, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

const renderGithub = (record: RunRecord) => reports.github(record, { color: false, width: 80 });

test('the report of the sample matches the golden file', () => {
  matchesSnapshot(new URL('github.golden.txt', import.meta.url), renderGithub(sampleRecord));
});

const decodings: readonly (readonly [escape: string, character: string])[] = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%3A', ':'],
  ['%2C', ','],
  ['%25', '%'],
];
const decoded = (text: string, known = decodings) =>
  known.reduce((shorter, [escape, character]) => shorter.replaceAll(escape, character), text);

/** Parses a line like the runner of GitHub Actions: command, properties and message; undefined for other lines. */
function read(line: string) {
  const trimmed = line.trimStart();
  const end = trimmed.indexOf('::', 2);
  if (!trimmed.startsWith('::') || end < 0) return undefined;
  const [command = '', ...rest] = trimmed.slice(2, end).split(' ');
  const properties = rest
    .join(' ')
    .split(',')
    .map((part) => part.split(/=(.*)/s).slice(0, 2))
    .map(([name = '', value = '']) => [name, decoded(value)] as const);
  const isData = ([, character]: (typeof decodings)[number]) => character !== ':' && character !== ',';
  return { command, properties, message: decoded(trimmed.slice(end + 2), decodings.filter(isData)) };
}

const linesOf = (record: RunRecord) => renderGithub(record).trimEnd().split('\n').map(read);

test('text that looks like an escape is kept', () => {
  const subject = {
    level: 'required',
    clause: '',
    title: 'a%0A,b:%3A',
    cases: 1,
    outcome: 'failed',
  } as const;
  const [, line] = linesOf({
    ...sampleRecord,
    requirements: [{ ...subject, id: 'x', aspect: '', expected: '%0A::error::%25', actual: '100 %' }],
  });
  assert.deepEqual(line?.properties, [['title', 'a%0A,b:%3A']]);
  assert.match(line.message, /\nexpected +%0A::error::%25\nactual +100 %\n/);
});

const hostileCommand = fc.oneof(hostileText, fc.constantFrom('::error::', '%0A::x::', 'a,b=c', '::'));

test('every line is a command with a title, at most ten of a kind, and every failure is named', () => {
  fc.assert(
    fc.property(anyRecord(hostileCommand), fc.integer({ min: 1, max: 5 }), (drawn, times) => {
      const rows = drawn.requirements;
      const record = { ...drawn, requirements: Array.from({ length: times }, () => rows).flat() };
      const [first, ...lines] = linesOf(record);
      const { ending, isGreen } = judgementOf(record);
      assert.equal(first?.command, isGreen || ending === 'nonconformant' ? 'notice' : 'error');
      const texts = new Set(
        lines.flatMap((line) => [line?.properties[0]?.[1], ...(line?.message.split('\n') ?? [])]),
      );
      for (const line of lines) {
        assert.ok(line?.command === 'error' || line?.command === 'warning');
        const names = line.properties.map(([name]) => name);
        assert.deepEqual(names, ['title']);
      }
      for (const kind of ['error', 'warning'])
        assert.ok([first, ...lines].filter((line) => line?.command === kind).length <= 10);
      const mistakes = record.requirements.filter(
        (row) => row.outcome === 'broken' || row.outcome === 'failed',
      );
      for (const { first: row } of worstFirst(mistakes).slice(0, 3)) {
        const id = printable(row.id, 20_000);
        assert.ok(
          [id, `id        ${id}`, printable(row.title, 20_000)].some((one) => texts.has(one)),
          id,
        );
      }
    }),
  );
});
