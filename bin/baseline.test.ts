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
import { unlimited as fixture } from './dev/testing/fixtures.ts';
import { endsSaying, testRefusals } from './dev/testing/run-cli.ts';
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
  const verdict = verdictOf(requirements, { interrupted: false });
  return { ...sampleRecord, notes: [], requirements, verdict, counts: countOutcomes(requirements) };
}

type Entry = readonly [id: string, reason?: string, differs?: string];

/** An empty third part of an entry leaves out how it fails. */
const baselineOf = (...entries: readonly Entry[]) => ({
  file: 'known.json',
  known: entries.map(([id, reason, differs = 'status: 500'], at) => ({
    id,
    line: at + 4,
    ...(differs !== '' && { differs }),
    ...(reason !== undefined && { reason }),
  })),
});

interface Expected {
  /** The mistake in the baseline. */
  readonly wrong?: RegExp;
  readonly note?: RegExp;
  readonly flags?: Partial<typeof plain>;
}

const known: readonly Entry[] = [['bad', 'ticket 1']];
const noReason = /^known\.json:4: bad: has no reason: state why/;
const noSuch = /^known\.json:4: wors: there is no such requirement; did you mean worse\?$/;
const passes = /^known\.json:5: good: passes now: remove it/;
const unjudged = ['out', 'seen', 'elsewhere'].map((id): Entry => [id, 'r']);
const isOpen = /open \(inconclusive: no-fixture\)/;
const outSeenElsewhere = /run: out \(excluded: skipped\), seen \(observed\), elsewhere \(not selected\)$/;

/** What happens, the rows of the run, the entries, the exit code, and what else is expected. */
type Rule = readonly [string, rows: string, entries: readonly Entry[], code: number, expected?: Expected];
const rules: readonly Rule[] = [
  ['a known failure does not fail the run', 'good bad', known, 0],
  ['a new failure does', 'bad worse', known, 1],
  [
    'a failure that differs from before',
    'bad',
    [['bad', 'r', 'status: 404']],
    1,
    { wrong: /in another way/ },
  ],
  ['an entry of an earlier version', 'bad', [['bad', 'r', '']], 0, { note: /any failure of bad: --update/ }],
  ['an entry without a reason', 'bad', [['bad']], 1, { wrong: noReason }],
  ['an entry with a blank reason', 'bad', [['bad', ' \t\n']], 1, { wrong: noReason }],
  ['an unknown id', 'good', [['wors', 'ticket 1']], 1, { wrong: noSuch }],
  ['an id listed twice', 'bad', [...known, ['bad', 'r']], 1, { wrong: /:5: bad: is already on line 4/ }],
  ['an entry that passes now', 'good bad', [...known, ['good', 'r']], 1, { wrong: passes }],
  ['an open requirement', 'good open', [['open', 'r']], 3, { note: isOpen }],
  ['--allow-incomplete', 'good bad open', known, 0, { flags: { allowIncomplete: true } }],
  ['what is not judged', 'good out seen', unjudged, 0, { note: outSeenElsewhere }],
  ['a broken requirement', 'good ours', [['ours', 'r']], 70, { note: /run: ours \(broken\)/ }],
  ['a failed recommended requirement only warns', 'good advice', [], 0],
  ['with --strict it fails the run', 'good advice', [], 1, { flags: { strict: true } }],
  ['with --strict it may be known', 'good advice', [['advice', 'r']], 0, { flags: { strict: true } }],
];

for (const [what, names, entries, code, { wrong, note, flags } = {}] of rules)
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
  const kept = before.known.slice(2, 6).map(({ line: _, ...entry }) => entry);
  assert.deepEqual(updateBaseline(record, before, false), {
    added: 1,
    removed: 3,
    known: [...kept, { id: 'worse', differs: 'status: 500', reason: '' }],
  });
  const strictly = updateBaseline(record, before, true).known.slice(kept.length);
  const without = ['worse', 'advice'].map((id) => ({ id, differs: 'status: 500', reason: '' }));
  assert.deepEqual(strictly, without);
  const another = baselineOf(['bad', 'ticket 1', 'status: 404'], ['worse', 'ticket 2', '']);
  assert.deepEqual(updateBaseline(record, another, false).known, [
    { id: 'bad', differs: 'status: 500', reason: '' },
    { id: 'worse', differs: 'status: 500', reason: 'ticket 2' },
  ]);
});

const { folder, place } = temporaryFolder();
const baselineFormat = '"format": "ib-conformance/baseline/1"';
const DATES = 'valid/user-status/date-joined';

const fixtureFile = temporaryFolder().fileOf('fixture.json', fixture);

test('a new failure, its reason in the baseline, and then a run that passes and still shows the failure', async () => {
  const behaviour = faults['date-day-and-month-swapped']!.change(reference);
  await using mock = await startMock({ fixture, behaviour });
  const file = place('known.json');
  const terminal = { color: false, width: 400 };
  const verify = (flags: string, code: number, patterns: RegExp | readonly RegExp[] = []) => {
    const own = `--fixture ${fixtureFile} --cases 100 --baseline ${file}`;
    return endsSaying(`verify ${mock.url} ${own} ${flags}`, code, patterns, { terminal });
  };
  await verify('--only valid', 2, /known\.json: there is no such file; --update-baseline writes one/);

  const noneYet = /known\.json:4:\s+valid\/user-status\/date-joined: has no reason:\s+state why/;
  await verify('--only valid --update-baseline', 1, [/1 added, 0 removed, 0 kept/, noneYet]);
  const added = `{ "id": "${DATES}", "differs": "value: \\"date_joined\\": \\"0\\"", "reason": "" }`;
  assert.equal(readFileSync(file, 'utf8'), `{\n  ${baselineFormat},\n  "known": [\n    ${added}\n  ]\n}\n`);
  await verify('--only valid', 1);

  writeFileSync(file, readFileSync(file, 'utf8').replace(/""(?= \})/, '"ticket 123: dates"'));
  await verify('--only valid', 0, [
    /^conformant but for 1 known failure \(narrowed by --only\):\s+1 of \d+ required failed/m,
    /^Known failures\n {2}✗ valid\/user-status\/date-joined {2}failed \(known\): ticket 123: dates,/m,
  ]);

  // An unjudged entry stays, with its reason.
  const notChecked = /not checked by this run: valid\/user-status\/date-joined \(not\s+selected\)/;
  await verify('--update-baseline --only valid/user-status/member', 0, notChecked);
  assert.match(readFileSync(file, 'utf8'), /ticket 123/);
  assert.deepEqual(readdirSync(folder), ['known.json']);
});

/** Contradictory flags, and invalid files. */
testRefusals('verify http://127.0.0.1:9', [
  ['--update-baseline', /--update-baseline needs --baseline/],
  [`--baseline f.json --replay ${DATES}`, /--replay checks one failure only/],
  ['--baseline /proc/no/f.json --update-baseline', /baseline cannot be written: its folder does not/],
  [`--baseline ${folder}`, /cannot be read \(EISDIR\)/],
]);

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
