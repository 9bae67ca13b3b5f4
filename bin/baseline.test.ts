import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { faults } from '../mock/deviations/faults.ts';
import { startMock } from '../mock/server/server.ts';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import validateRunRecord from '../schemas/generated/run-record.cjs';
import { sampleRecord } from '../reports/testing/records.ts';
import { countOutcomes, verdictOf } from '../suites/judging/record.ts';
import { updateBaseline, applyBaseline, readBaseline } from './baseline.ts';
import { judgedBy } from '../reports/judgement.ts';
import { exitCodeOf } from './exit-codes.ts';
import { loadFixture } from './input-files.ts';
import { runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const plain = { strict: false, allowIncomplete: false };

const row = (id: string, rest: object) =>
  ({ id, level: 'required', clause: 'c', title: 't', cases: 100, ...rest }) as RequirementResult;
const bad = { outcome: 'failed', aspect: 'status', expected: '200', actual: '500' };
const open = { outcome: 'inconclusive', reason: 'no-fixture', words: 'w' };

/** A row of each outcome, by its id. */
const rows = {
  good: row('good', { outcome: 'passed' }),
  bad: row('bad', bad),
  worse: row('worse', bad),
  advice: row('advice', { ...bad, level: 'recommended' }),
  open: row('open', open),
  out: row('out', { outcome: 'excluded', reason: 'skipped', words: 'w' }),
  seen: row('seen', { level: 'observed', outcome: 'observed', words: 'w' }),
  ours: row('ours', { outcome: 'broken', words: 'w' }),
} as const;

const ids = [...Object.keys(rows), 'elsewhere'];

function recordOf(names: string): RunRecord {
  const requirements = names.split(' ').map((name) => rows[name as keyof typeof rows]);
  return {
    ...sampleRecord,
    notes: [],
    requirements,
    verdict: verdictOf(requirements, { interrupted: false }),
    counts: countOutcomes(requirements),
  };
}

type Entry = readonly [id: string, reason?: string];

const baselineOf = (...entries: readonly Entry[]) => ({
  file: 'known.json',
  known: entries.map(([id, reason], at) => ({
    id,
    line: at + 4,
    ...(reason === undefined ? {} : { reason }),
  })),
});

interface Expected {
  readonly code: number;
  /** The mistake in the baseline. */
  readonly wrong?: RegExp;
  readonly note?: RegExp;
  readonly flags?: Partial<typeof plain>;
}

const known: readonly Entry[] = [['bad', 'ticket 1']];
const noReason = /^known\.json:4: bad: has no reason: state why/;

const rules: readonly (readonly [what: string, rows: string, entries: readonly Entry[], Expected])[] = [
  ['a known failure does not fail the run', 'good bad', known, { code: 0 }],
  ['a new failure does', 'bad worse', known, { code: 1 }],
  ['an entry without a reason', 'bad', [['bad']], { code: 1, wrong: noReason }],
  ['an entry with a blank reason', 'bad', [['bad', ' \t\n']], { code: 1, wrong: noReason }],
  [
    'an unknown id',
    'good',
    [['wors', 'ticket 1']],
    { code: 1, wrong: /^known\.json:4: wors: there is no such requirement; did you mean worse\?$/ },
  ],
  [
    'an id listed twice',
    'bad',
    [...known, ['bad', 'ticket 2']],
    { code: 1, wrong: /^known\.json:5: bad: is already on line 4/ },
  ],
  [
    'an entry that passes now',
    'good bad',
    [...known, ['good', 'ticket 2']],
    { code: 1, wrong: /^known\.json:5: good: passes now: remove it/ },
  ],
  [
    'an inconclusive requirement cannot be a known failure',
    'good open',
    [['open', 'ticket 1']],
    { code: 3, note: /open \(inconclusive: no-fixture\)/ },
  ],
  ['--allow-incomplete', 'good bad open', known, { code: 0, flags: { allowIncomplete: true } }],
  [
    'excluded, observed and not selected requirements',
    'good out seen',
    ['out', 'seen', 'elsewhere'].map((id): Entry => [id, 'r']),
    { code: 0, note: /run: out \(excluded: skipped\), seen \(observed\), elsewhere \(not selected\)$/ },
  ],
  ['a broken requirement', 'good ours', [['ours', 'r']], { code: 70, note: /run: ours \(broken\)/ }],
  ['a failed recommended requirement only warns', 'good advice', [], { code: 0 }],
  ['with --strict it fails the run', 'good advice', [], { code: 1, flags: { strict: true } }],
  ['with --strict it may be known', 'good advice', [['advice', 'r']], { code: 0, flags: { strict: true } }],
];

for (const [what, names, entries, { code, wrong, note, flags }] of rules)
  test(`baseline: ${what}`, () => {
    const record = recordOf(names);
    const result = applyBaseline(record, baselineOf(...entries), ids);
    assert.ok(validateRunRecord(result), JSON.stringify(validateRunRecord.errors));
    assert.equal(exitCodeOf(judgedBy(result, { ...plain, ...flags })), code);
    assert.equal(result.baseline?.wrong.length, wrong === undefined ? 0 : 1);
    if (wrong !== undefined) assert.match(result.baseline.wrong[0]!, wrong);
    if (note === undefined) assert.deepEqual(result.notes, []);
    else assert.match(result.notes.join('\n'), note);
  });

test('an interrupted run exits with 130', () => {
  const result = applyBaseline({ ...recordOf('bad'), interrupted: true }, baselineOf(...known), ids);
  assert.equal(exitCodeOf(result), 130);
});

test('an update keeps reasons and unjudged entries, drops passing ones, and adds new failures', () => {
  const before = baselineOf(
    ['good', 'fixed'],
    ['bad', ''],
    ['bad', 'ticket 1'],
    ['open', 'ticket 3'],
    ['elsewhere', 'ticket 4'],
    ['no-such', 'ticket 5'],
    ['bad', 'a later one'],
  );
  const record = recordOf('good bad worse advice open out');
  const kept = [
    { id: 'bad', reason: 'ticket 1' },
    { id: 'open', reason: 'ticket 3' },
    { id: 'elsewhere', reason: 'ticket 4' },
    { id: 'no-such', reason: 'ticket 5' },
  ];
  assert.deepEqual(updateBaseline(record, before, false), {
    added: 1,
    removed: 3,
    known: [...kept, { id: 'worse', reason: '' }],
  });
  assert.deepEqual(updateBaseline(record, before, true).known.slice(kept.length), [
    { id: 'worse', reason: '' },
    { id: 'advice', reason: '' },
  ]);
});

const { folder, place } = temporaryFolder();
const DATES = 'valid/user-status/date-joined';

// Without limits, no test waits for their windows.
const { limits: _, ...fixture } = await loadFixture(undefined, {});
const fixtureFile = temporaryFolder().fileOf('fixture.json', fixture);

/** Runs the suite `valid`, or what flags select, against a mock that swaps day and month. */
async function verify(...flags: readonly string[]) {
  await using mock = await startMock({
    fixture,
    behaviour: faults['date-day-and-month-swapped']!.change(reference),
  });
  const selected = flags.includes('--only') ? [] : ['--only', 'valid'];
  const own = ['--fixture', fixtureFile, ...selected, '--cases', '100'];
  return await call('verify', mock.url, ...own, ...flags);
}

async function call(...words: readonly string[]) {
  const { code, output, error } = await runCli(words, { terminal: { color: false, width: 400 } });
  return { code, output: output + error };
}

test('a new failure, its reason in the baseline, and then a run that passes and still shows the failure', async () => {
  const file = place('known.json');
  const missing = await verify('--baseline', file);
  assert.equal(missing.code, 2);
  assert.match(missing.output, /known\.json: there is no such file; --update-baseline writes one/);

  const first = await verify('--baseline', file, '--update-baseline');
  assert.equal(first.code, 1);
  assert.match(first.output, /1 added, 0 removed, 0 kept/);
  assert.match(first.output, /known\.json:4:\s+valid\/user-status\/date-joined: has no reason:\s+state why/);
  assert.equal(
    readFileSync(file, 'utf8'),
    `{\n  "format": "ib-conformance/baseline/1",\n  "known": [\n    { "id": "${DATES}", "reason": "" }\n  ]\n}\n`,
  );
  assert.equal((await verify('--baseline', file)).code, 1);

  writeFileSync(file, readFileSync(file, 'utf8').replace('""', '"ticket 123: dates"'));
  const result = await verify('--baseline', file);
  assert.equal(result.code, 0);
  assert.match(
    result.output,
    /^conformant but for 1 known failure \(narrowed by --only\):\s+1 of \d+ required failed/m,
  );
  assert.match(
    result.output,
    /^Known failures\n {2}✗ valid\/user-status\/date-joined {2}failed \(known\): ticket 123: dates,/m,
  );

  // An unjudged entry stays, with its reason.
  const only = ['--only', 'valid/user-status/member'];
  const elsewhere = await verify('--baseline', file, '--update-baseline', ...only);
  assert.equal(elsewhere.code, 0, elsewhere.output);
  assert.match(
    elsewhere.output,
    /not checked by this run: valid\/user-status\/date-joined \(not\s+selected\)/,
  );
  assert.match(readFileSync(file, 'utf8'), /ticket 123/);
  assert.deepEqual(readdirSync(folder), ['known.json']);
});

/** Contradictory flags, and invalid files. */
testRefusals('verify http://127.0.0.1:9', [
  ['--update-baseline', /--update-baseline needs --baseline/],
  [`--baseline f.json --replay ${DATES}`, /--replay checks one failure only/],
  [
    `--baseline ${place('no/f.json')} --update-baseline`,
    /the baseline cannot be written: its folder does not/,
  ],
  [`--baseline ${folder}`, /cannot be read \(EISDIR\)/],
]);

const baselineFormat = '"format": "ib-conformance/baseline/1"';

/** Invalid baselines, and the expected problem. */
const wrongBaselines: Readonly<Record<string, RegExp>> = {
  '': /^known\.json:1:1: is not JSON/,
  [`{ ${baselineFormat},\n "known": [ }`]: /^known\.json:2:13: is not JSON/,
  '[]': /^known\.json: the baseline must be object: \[\]$/,
  [`{ ${baselineFormat} }`]: /^known\.json: the baseline lacks "known"$/,
  '{ "format": "ib-conformance/baseline/2", "known": [] }':
    /format is not "ib-conformance\/baseline\/1": "ib-conformance\/baseline\/2"/,
  [`{ ${baselineFormat}, "known": [{ "reason": "r" }] }`]: /known\[0\] lacks "id"/,
  [`{ ${baselineFormat}, "known": [{ "id": "a", "because": "r" }] }`]:
    /known\[0\] has an unknown key "because"/,
  [`{ ${baselineFormat}, "known": [{ "id": "a", "reason": 1 }] }`]:
    /known\[0\]\.reason is not a text: .*: 1$/,
};

for (const [text, pattern] of Object.entries(wrongBaselines))
  test(`invalid baseline: ${text.replaceAll('\n', ' ')}`, () => {
    const problem = { name: 'Problem', code: 'usage', message: pattern };
    assert.throws(() => readBaseline(text, 'known.json'), problem);
  });

test('every entry has its line, also after a byte order mark', () => {
  const text = `\uFEFF{ ${baselineFormat},\n  "known": [\n    { "id": "a", "reason": "r" }, {"id":"b"},\n\n    {\n "id": "a" }\n]}`;
  assert.deepEqual(readBaseline(text, 'f').known, [
    { id: 'a', reason: 'r', line: 3 },
    { id: 'b', line: 3 },
    { id: 'a', line: 5 },
  ]);
});
