import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import type { RunRecord } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/run-record.cjs';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { renderCheckup } from './checkup.ts';
import { renderConsole } from './console.ts';
import type { ReportOptions } from './formats.ts';
import { outcomes } from './results.ts';
import {
  DANGEROUS,
  anyCheckup,
  anyRecord,
  hostileText,
  sampleFailure,
  sampleRecord,
} from './testing/records.ts';
import { columns } from './text.ts';

const plain = { color: false, width: 100 };

test('the sample is a valid record with every outcome and every level', () => {
  assert.ok(validate(sampleRecord), JSON.stringify(validate.errors));
  assert.deepEqual(
    [...new Set(sampleRecord.requirements.map(({ outcome }) => outcome))].toSorted(),
    outcomes.toSorted(),
  );
  assert.equal(new Set(sampleRecord.requirements.map(({ level }) => level)).size, 3);
});

test('the verdict is green, red, or yellow if only known failures remain', () => {
  const baseline = { file: 'b.json', known: [], wrong: [] };
  for (const [verdict, known, code] of [
    ['conformant', undefined, 32],
    ['nonconformant', undefined, 31],
    ['nonconformant', 'nonconformant', 31],
    ['nonconformant', 'conformant', 33],
    ['conformant', 'conformant', 32],
    ['conformant', 'nonconformant', 31],
  ] as const) {
    const record = { ...sampleRecord, verdict, baseline: known && { ...baseline, verdict: known } };
    assert.match(
      renderConsole(record as RunRecord, { ...plain, color: true }),
      new RegExp(`\\u001b\\[${code}m${known ?? verdict}`),
    );
  }
});

test('the report of the sample matches the golden file', () => {
  matchesSnapshot(new URL('console.golden.txt', import.meta.url), renderConsole(sampleRecord, plain));
});

const terminalReports: Readonly<Record<string, fc.Arbitrary<(options: ReportOptions) => string>>> = {
  nonconformant: anyRecord(hostileText).map((record) => {
    const verdict = 'nonconformant' as const;
    const baseline = record.baseline === undefined ? {} : { baseline: { ...record.baseline, verdict } };
    return (options) => renderConsole({ ...record, ...baseline, verdict }, options);
  }),
  '1 check failed:': anyCheckup(hostileText).map((drawn) => {
    const bad = { area: 'reach', subject: 's', outcome: 'problem', words: 'w' } as const;
    const checks = [
      bad,
      ...drawn.checks.filter(({ outcome }) => outcome !== 'problem'),
    ] as typeof drawn.checks;
    return (options) => renderCheckup({ ...drawn, checks, verdict: 'problems' }, options);
  }),
};

for (const [verdict, arbitrary] of Object.entries(terminalReports))
  test(`no text of a target affects a terminal, widens a line, or looks like ${verdict}`, () => {
    assert.match('\u001b[2J', DANGEROUS);
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 60, max: 200 }), (render, width) => {
        const text = render({ color: false, width });
        assert.doesNotMatch(text, DANGEROUS);
        assert.equal(stripVTControlCharacters(render({ color: true, width })), text);
        const lines = text.split('\n');
        const tooWide = lines.filter(
          (line) => columns(line) > width && !/^(?: {2}(?:request|replay) {2,}|next: )/.test(line),
        );
        assert.deepEqual(tooWide, []);
        assert.equal(lines.filter((line) => line.startsWith(verdict)).length, 1);
        const others = /^(?:nonconformant|conformant|ready for verify|\d+ checks? failed)/;
        const ends = lines.filter((line) => others.test(line) && !line.startsWith(verdict));
        assert.deepEqual(ends, []);
      }),
    );
  });

test('widths are limited to 60 to 200', () => {
  const at = (width: number): string => renderConsole(sampleRecord, { color: false, width });
  assert.equal(at(1), at(60));
  assert.equal(at(1000), at(200));
  assert.notEqual(at(60), at(200));
  assert.notEqual(renderConsole(sampleRecord, { ...plain, color: true }), renderConsole(sampleRecord, plain));
  assert.ok(
    sampleRecord.requirements.every(({ id }) => at(60).includes(id)),
    'ids are complete at 60',
  );
});

test('the report stays short for any size of answers', () => {
  const huge = 'x'.repeat(1_000_000);
  const record = {
    ...sampleRecord,
    requirements: sampleRecord.requirements.map((result) =>
      result.outcome === 'failed'
        ? {
            ...result,
            expected: `${huge}a`,
            actual: `${huge}b`,
            counterexample: {
              request: { method: 'GET', target: '/', headers: {} },
              response: { status: 200, headers: { 'content-type': huge }, body: huge },
              curl: 'curl http://127.0.0.1/',
            },
          }
        : result,
    ),
  };
  const text = renderConsole(record, plain);
  assert.ok(text.length < 20_000, `${text.length} characters`);
  assert.match(text, /cut: the body has 1,000,000 characters/);
  assert.match(text, /expected {5}…x+a\n {2}actual {7}…x+b\n +\^\n/);
});

test('a command that cannot be shown exactly has a note', () => {
  const { request } = sampleFailure.counterexample!;
  const show = (curl: string): string => {
    const requirements = [{ ...sampleFailure, counterexample: { request, curl } }];
    return renderConsole({ ...sampleRecord, requirements }, plain);
  };
  assert.match(show('curl \u202e'), /curl \\u\{202e\}\n  note +request is escaped or cut/);
  assert.doesNotMatch(show('curl'), /escaped or cut/);
  assert.ok(show(`curl ${'x'.repeat(1_900)}`).includes('x'.repeat(1_900)));
  assert.match(
    show(`curl ${'x'.repeat(2_000)}`),
    /request +too long to show \(2,005 characters\): replay it/,
  );
});

test('a suite is one line only if all its requirements are excluded for one reason', () => {
  const linesFor = (...reasons: readonly string[]): readonly string[] => {
    const subject = { level: 'required', clause: 'c', title: 't', cases: 0 } as const;
    const requirements = reasons.map((reason, at) => {
      const id = `auth/service/${at}`;
      return { ...subject, id, outcome: 'excluded' as const, reason, words: 'w' };
    });
    const text = renderConsole({ ...sampleRecord, requirements }, plain);
    return text.split('\n').filter((line) => line.startsWith('  – '));
  };
  assert.deepEqual(linesFor('skipped', 'skipped'), ['  – all 2  skipped: w']);
  assert.equal(linesFor('skipped').length, 1);
  assert.match(linesFor('skipped').join(), /auth\/service\/0/);
  assert.equal(linesFor('skipped', 'black-box').length, 2);
});

test('missing parts of the record are omitted', () => {
  const { rerun: _rerun, partner: _partner, ...rest } = sampleRecord;
  const text = renderConsole(
    { ...rest, notes: [], rateLimited: { answers: 0, waitedMs: 0, endpoints: [] } },
    plain,
  );
  assert.doesNotMatch(text, /replay {2}|partner northwind,|note:|status 429/);
  assert.match(renderConsole(sampleRecord, plain), /replay {2}[^]*note:[^]*status 429/);
});

/** Record of a target that answers everything with 500: `count` similar failures. */
function allFailed(count: number): RunRecord {
  const response = { status: 500, headers: {}, body: 'Internal Server Error' };
  const requirements = Array.from({ length: count }, (_, at) => ({
    ...sampleFailure,
    id: `auth/user-status/${at}`,
    level: 'required' as const,
    counterexample: { ...sampleFailure.counterexample!, response },
  }));
  return { ...sampleRecord, requirements, counts: { ...sampleRecord.counts, broken: 0 } };
}

test('many similar failures are grouped, and each is named', () => {
  const one = renderConsole(allFailed(1), plain).split('\n').length;
  const text = renderConsole(allFailed(40), plain);
  assert.match(text, /✗ and 39 more like this\n {2}ids {10}auth\/user-status\/1, /);
  // A row each, two findings in full, and the ids.
  assert.ok(text.split('\n').length < one + 39 + 2 * 20 + 20);
  assert.match(text, /\n {2}replays {6}the json report has each/);
  for (let at = 0; at < 40; at++) assert.match(text, new RegExp(`auth/user-status/${at}\\b`));
});

test('a requirement that depends on another one is not shown in full', () => {
  const first = sampleRecord.requirements.find((result) => result.outcome === 'inconclusive');
  const shows = (reason: string) => {
    const requirements = [{ ...first!, reason, counterexample: sampleFailure.counterexample! }];
    return renderConsole({ ...sampleRecord, requirements }, plain).includes('  request ');
  };
  assert.deepEqual([shows('timeout'), shows('depends')], [true, false]);
});

for (const width of [60, 80, 100, 200])
  for (const record of [allFailed(40), allFailed(1), sampleRecord])
    test(`the last lines are verdict, failures and next step, at width ${width}, for ${record.requirements.length} rows`, () => {
      const text = renderConsole(record, { color: false, width });
      const ending = text
        .slice(text.lastIndexOf('\n\n') + 2)
        .trimEnd()
        .split('\n');
      assert.match(ending[0]!, /^nonconformant \(narrowed by --skip\): \d+ of \d+ required/);
      assert.ok(ending.some((line) => line.startsWith('failed: ')));
      assert.ok(ending.slice(-2).some((line) => line.startsWith('next: ')));
      assert.ok(ending.length <= 20, ending.join('\n'));
    });
