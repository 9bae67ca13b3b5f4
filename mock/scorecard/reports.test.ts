import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { xmlErrors } from '../../schemas/xml-errors.ts';
import { scorecardOf } from '../scorecard.ts';
import { scorecardJunit } from './junit.ts';
import { each, every, sampleEntries, type Sample } from './sample-entries.ts';
import { scorecardText } from './text.ts';

const POLLED = '/api/ib/deposit-check?reference_id=77777777-7777-4777-8777-777777777777';
const card = scorecardOf(
  sampleEntries([
    { status: 429, retryAfterSeconds: 3, reason: '429: 61 of 60 in 60 s' },
    { target: POLLED, status: 404 },
    ...each(every(1000, 8, 1000), { target: POLLED }),
    { target: '/api/ib/user-status?key=pk_live_1', keyInTarget: true, at: 9000 },
  ]),
);

test('the scorecard to read', () => {
  assert.equal(
    scorecardText(card),
    `kept      Honoured Retry-After (Errors, 429)
not seen  Backed off where 429 came again and again (Errors, 429)
          needs the same request refused with 429 three times in a row, or six times at even gaps
BROKEN    Stopped polling a deposit once it was EXECUTED (States and transitions)
          #4 2025-01-15T12:00:02.000Z GET ${POLLED} → 200 (a test)
          #5 2025-01-15T12:00:03.000Z GET ${POLLED} → 200 (a test)
          #6 2025-01-15T12:00:04.000Z GET ${POLLED} → 200 (a test)
          #7 2025-01-15T12:00:05.000Z GET ${POLLED} → 200 (a test)
          #8 2025-01-15T12:00:06.000Z GET ${POLLED} → 200 (a test)
          and 2 more
          → stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED
not seen  Did not hammer with a key that was refused (Authentication 3)
          needs a 401 to a request with a key
BROKEN    Kept the key out of the URL (Authentication 1)
          #11 2025-01-15T12:00:09.000Z GET /api/ib/user-status?… → 200 (a test)
          → send the key in the Authorization header alone, and issue it anew: URLs are written into logs
kept      Sent the Authorization header (Authentication 1)
kept      Sent nothing but GET (Endpoints)
`,
  );
});

test('the scorecard as JUnit', () => {
  const lines = scorecardJunit(card).split('\n');
  assert.equal(lines[2], '  <testsuite name="scorecard" tests="7" failures="2" errors="0" skipped="2">');
  assert.equal(
    lines[3],
    '    <testcase classname="scorecard.retry-after" name="Honoured Retry-After (Errors, 429)" time="0"/>',
  );
  assert.match(lines[5] ?? '', /^ +<skipped message="not seen: needs the same request [^"]*"\/>$/);
  assert.match(
    scorecardJunit(card),
    /<failure message="stop at the first 200[^"]*">#4 [^<]*\nand 2 more<\/failure>/,
  );
});

const piece = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(
    ']]>',
    '<!--',
    '&amp;',
    '&#0;',
    '"',
    "'",
    '\0',
    '\x1b[2J',
    '\r\n',
    '\ud800',
    '\udfff',
    '\u2028',
    '\ufffe',
  ),
);
const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const hostileSamples = fc.array(
  fc.record<Sample>({
    target: hostile,
    method: hostile,
    reason: hostile,
    status: fc.integer(),
    keyInTarget: fc.boolean(),
    at: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(Infinity, -1e300, Number.NaN)),
  }),
  { minLength: 1, maxLength: 8 },
);
const endpoint = '/api/ib/user-status';
const cardOf = (samples: readonly Sample[]) =>
  scorecardOf(sampleEntries(samples.map((one) => ({ ...one, target: `${endpoint}?${one.target}` }))));

describe('whatever a client sent', () => {
  test('the JUnit is well-formed and shows it', async () => {
    const drawn = fc.sample(hostileSamples, { seed: 7, numRuns: 500 });
    const documents = drawn.map((samples) => scorecardJunit(cardOf(samples)));
    for (const junit of documents) assert.match(junit, /<failure message="ask with GET/);
    assert.deepEqual(await xmlErrors(documents), []);
  });
  test('nothing of it is lost', () => {
    const samples = [{ method: 'POST', target: `"<&amp;]]>'\0\ud800` }];
    const shown = `POST ${endpoint}?"<&amp;]]>'\\u{0}\\u{d800} → 200`;
    assert.ok(scorecardText(cardOf(samples)).includes(shown));
    const escaped = `?&quot;&lt;&amp;amp;]]&gt;'\\u{0}\\u{d800} → 200`;
    assert.ok(scorecardJunit(cardOf(samples)).includes(escaped));
  });
  test('the text has no character that a terminal acts on, and the lines that it should', () => {
    fc.assert(
      fc.property(hostileSamples, (samples) => {
        const text = scorecardText(cardOf(samples));
        assert.match(text.replaceAll('\n', ''), /^[^\p{Cc}\p{Cf}\p{Cs}]*$/u);
        for (const line of text.trimEnd().split('\n'))
          assert.match(line, /^(?:kept|BROKEN|not seen) |^ {10}\S/);
      }),
      { seed: 7, numRuns: 1000 },
    );
  });
  test('a long target is cut', () => {
    const long = scorecardText(
      scorecardOf(sampleEntries([{ method: 'POST', target: `${endpoint}?${'💶'.repeat(9000)}` }])),
    );
    assert.ok(long.includes('💶… →') && long.length < 2000);
  });
});
