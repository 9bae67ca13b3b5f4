import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { FixtureApiKey } from '../../schemas/generated/types.ts';
import { answerOf } from '../testing/samples.ts';
import { judgeClock, judgeKey, judgeKeyless, judgeLimits, otherService, type CheckResult } from './checks.ts';

type Expected = readonly [outcome: CheckResult['outcome'], says: RegExp, fix?: RegExp];

function assertResult(result: CheckResult, [outcome, says, fix]: Expected): void {
  assert.equal(result.outcome, outcome, result.words);
  assert.match(result.words, says);
  assert.equal(result.fix !== undefined, outcome === 'problem');
  if (fix !== undefined) assert.match(result.fix!, fix);
}

const html = { 'content-type': 'text/html; charset=utf-8' };

const https = { location: 'https://x/' };

/** Answers to a lookup without a key, and the expected result. */
const services: Readonly<Record<string, readonly [answer: ReturnType<typeof answerOf>, ...Expected]>> = {
  'the interface': [answerOf(401, { error: 'Unauthorized' }), 'ok', /with the exact message/],
  'other words': [
    answerOf(401, { error: 'No' }),
    'unknown',
    /with another message: .*"No"\}; expected 401 \{"error":"Unauthorized"\}/,
  ],
  'a gateway': [answerOf(401, 'denied'), 'unknown', /no JSON error: 401 denied; expected /],
  'a login': [
    answerOf(302, '', { location: '/login' }),
    'problem',
    /302, a redirect to \/login/,
    /behind any login/,
  ],
  'http to https': [answerOf(301, '', https), 'problem', /https:\/\/x\//, /Use the https URL/],
  'a website': [answerOf(200, '<p>', html), 'problem', /HTML page/, /--header/],
  'a website without a type': [answerOf(404, ' <!DOCTYPE html>'), 'problem', /HTML page/],
  'another path': [answerOf(404, { error: 'x' }), 'problem', /nothing at this path/, /may contain a path/],
  'a guard': [answerOf(403, {}), 'problem', /in front of the service/, /--header/],
  'a broken service': [answerOf(500, {}), 'problem', /500: the server has an error/],
  'one that says yes to all': [answerOf(200, {}), 'problem', /200 \{\}, without a key/],
  'a limiter': [answerOf(429, {}), 'unknown', /429 \{\}; expected 401/],
};

for (const [what, [answer, ...expected]] of Object.entries(services))
  test(`without a key: ${what}`, () => {
    const result = judgeKeyless('user-status', answer);
    assertResult(result, expected);
    assert.equal(otherService(answer) !== undefined, /redirect|HTML|path|front/.test(result.words));
  });

const key = (rest: Partial<FixtureApiKey> = {}): FixtureApiKey => ({
  key: 'k',
  partner: 'p',
  state: 'active',
  ...rest,
});
const NOW = 1.75e12;
const found = { ...answerOf(200, { is_under_ib: false, date_joined: null }), receivedAt: NOW };
const refused = { ...answerOf(401, { error: 'Unauthorized' }), receivedAt: NOW };
const limited = answerOf(429, {});

const revoked = key({ state: 'revoked' });
const expiring = key({ expiresAfterSeconds: 1 });
const past = key({ expiresAt: NOW - 1e6 });

/** Keys, the answer to each, and the expected result. */
const keys: Readonly<Record<string, readonly [FixtureApiKey, answer: typeof found, ...Expected]>> = {
  'active, accepted': [key(), found, 'ok', /^accepted \(200\)$/],
  'active, refused': [key(), refused, 'problem', /apiKeys\[3\] is active/, /correct apiKeys\[3\]\.$/],
  'active, limited': [key(), limited, 'unknown', /429/],
  'active, limited by its stated limits': [key({ limits: {} }), limited, 'ok', /its limits in the fixture/],
  'active, answered with a page': [key(), answerOf(200, '<html>'), 'problem', /answered 200 <html>/],
  'revoked, refused': [revoked, refused, 'ok', /as expected: the fixture says revoked/],
  'revoked, accepted': [revoked, found, 'problem', /accepted \(200\), but apiKeys\[3\] is revoked/],
  'of a non-Partner account, accepted': [key({ partner: null }), found, 'problem', /non-Partner account/],
  'expiring at an unknown time, refused': [expiring, refused, 'ok', /has expired/],
  'expiring at an unknown time, accepted': [expiring, found, 'ok', /accepted/],
  'expiring later, refused': [key({ expiresAt: NOW + 1e6 }), refused, 'problem', /is active/],
  'expired long ago, refused': [past, refused, 'ok', /expired/],
  'expiring about now, accepted': [key({ expiresAt: NOW - 1000 }), found, 'ok', /accepted/],
};

for (const [what, [apiKey, answer, ...expected]] of Object.entries(keys))
  test(`a key: ${what}`, () => assertResult(judgeKey(apiKey, 'apiKeys[3]', answer), expected));

test('a rate limit is reported with its Retry-After', () => {
  const judge = (...answers: readonly (typeof limited)[]) => judgeLimits(answers, { limits: {} });
  assertResult(judge(found), ['ok', /no 429 among 1 answers; the fixture states no limits/]);
  assertResult(judge(found, limited), ['unknown', /^1 of 2 .* 429, without Retry-After; verify waits/]);
  const patient = answerOf(429, {}, { 'retry-after': '7' });
  assertResult(judge(limited, patient), ['unknown', /^2 of 2 .*Retry-After: 7/]);
});

const at = (sentAt: number, receivedAt: number, headers: Record<string, string>) => ({
  ...answerOf(200, {}, headers),
  sentAt,
  receivedAt,
});

/** An answer of a server whose clock is `ahead` ms ahead of ours. */
function answerAhead(ahead: number, sentAt: number, thereMs: number, backMs: number) {
  const date = Math.floor((sentAt + thereMs + ahead) / 1000) * 1000;
  return at(sentAt, sentAt + thereMs + backMs, { date: new Date(date).toUTCString() });
}

const trip = fc.record({
  sentAt: fc.integer({ min: 1.7e12, max: 1.8e12 }),
  there: fc.nat({ max: 3000 }),
  back: fc.nat({ max: 3000 }),
});

test('clocks that agree are ok, however slow the answers are', () => {
  fc.assert(
    fc.property(fc.array(trip, { minLength: 1 }), (trips) => {
      const answers = trips.map(({ sentAt, there, back }) => answerAhead(0, sentAt, there, back));
      assert.equal(judgeClock(answers).outcome, 'ok');
    }),
  );
});

test('a difference of the clocks is reported, and a problem above 10 s', () => {
  const judged = (ahead: number) => judgeClock([answerAhead(ahead, 1.75e12 + 500, 10, 10)]);
  assertResult(judged(8000), ['ok', /^7\.\d s ahead of the clock of this machine$/]);
  assertResult(judged(-8000), ['ok', /^7\.\d s behind the clock of this machine$/]);
  assertResult(judged(60_000), ['problem', /^59\.\d s ahead/]);
  assertResult(judged(-86_400_000), ['problem', /behind the clock of this machine$/]);
});

test('a missing or invalid Date is unknown; the age of a cached answer is added', () => {
  assert.equal(judgeClock([]).outcome, 'unknown');
  assert.equal(judgeClock([at(0, 0, {}), at(0, 0, { date: 'soon' })]).outcome, 'unknown');
  const sentAt = Date.UTC(2026, 0, 1, 0, 10);
  const cached = { date: new Date(sentAt - 600_000).toUTCString(), age: '600' };
  assert.equal(judgeClock([at(sentAt, sentAt + 5, cached)]).outcome, 'ok');
});
