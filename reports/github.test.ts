import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { failsRun, judgementOf } from './judgement.ts';
import { renderGithub } from './github.ts';
import { anyRecord, hostileText, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

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
  const subject = { level: 'required', clause: '', title: '', cases: 1, outcome: 'failed' } as const;
  const [, line] = linesOf({
    ...sampleRecord,
    requirements: [
      { ...subject, id: 'a%0A,b:%3A', aspect: '', expected: '%0A::error::%25', actual: '100 %' },
    ],
  });
  assert.deepEqual(line?.properties, [['title', 'failed: a%0A,b:%3A']]);
  assert.match(line.message, /\nexpected +%0A::error::%25\nactual +100 %\n/);
});

/** Returns the kind of annotation for a result; undefined for none. */
function kindOf(record: RunRecord, result: RequirementResult) {
  const { outcome, level } = result;
  if (isKnownFailure(result)) return 'warning';
  if (outcome === 'broken') return 'error';
  if (outcome === 'failed') return failsRun(record, result) ? 'error' : 'warning';
  return outcome === 'inconclusive' && level !== 'observed' ? 'warning' : undefined;
}

const hostileCommand = fc.oneof(hostileText, fc.constantFrom('::error::', '%0A::x::', 'a,b=c', '::'));

test('every line is a command with a title, at most ten of a kind, and failures and unjudged results are named or counted', () => {
  fc.assert(
    fc.property(anyRecord(hostileCommand), fc.integer({ min: 1, max: 5 }), (drawn, times) => {
      const rows = drawn.requirements;
      const record = { ...drawn, requirements: Array.from({ length: times }, () => rows).flat() };
      const lines = linesOf(record);
      for (const line of lines) {
        assert.ok(line !== undefined && ['error', 'warning', 'notice'].includes(line.command));
        assert.deepEqual(
          line.properties.map(([name]) => name),
          ['title'],
        );
      }
      for (const kind of ['error', 'warning']) {
        const annotations = lines
          .slice(1)
          .flatMap((line) =>
            line?.command === kind
              ? line.properties.map(([, title]) => ({ title, message: line.message }))
              : [],
          );
        const results = annotations.filter(({ title }) => title !== 'baseline');
        assert.equal(
          results.length < annotations.length,
          kind === 'error' && (record.baseline?.wrong ?? []).length > 0,
        );
        const wanted = record.requirements.filter((result) => kindOf(record, result) === kind);
        assert.ok(lines.filter((line) => line?.command === kind).length <= 10);
        const counted = results.map(({ title, message }) => {
          const rest = /^(\d+) more$/.exec(title)?.[1];
          const similar = /(?:^|\n)and (\d+) more like this: .*$/.exec(message)?.[1] ?? 0;
          return rest === undefined ? 1 + Number(similar) : Number(rest);
        });
        assert.equal(
          counted.reduce((sum, count) => sum + count, 0),
          wanted.length,
        );
        const named = results.map(({ title }) => title);
        const ids = new Set(wanted.map(({ id }) => printable(id, 300)));
        for (const title of named.slice(0, 6))
          assert.ok(ids.has(title.slice(title.indexOf(': ') + 2)), title);
      }
      const isNotice = ['conformant', 'nonconformant'].includes(judgementOf(record).ending);
      assert.equal(lines[0]?.command, isNotice ? 'notice' : 'error');
    }),
  );
});
