import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FixtureApiKey } from '../../schemas/generated/types.ts';
import { answerOf } from '../sample-answers.ts';
import type { Finding } from './finding.ts';
import { isStrange, keyless } from './interface.ts';
import { judgeKey } from './keys.ts';
import { judgeLimits } from './limits.ts';

type Expected = readonly [outcome: Finding['outcome'], says: RegExp, mend?: RegExp];

function assertFinding(finding: Finding, [outcome, says, mend]: Expected): void {
  assert.equal(finding.outcome, outcome, finding.words);
  assert.match(finding.words, says);
  assert.equal(finding.mend !== undefined, outcome === 'bad');
  if (mend !== undefined) assert.match(finding.mend!, mend);
}

const html = { 'content-type': 'text/html; charset=utf-8' };

/** Answers to a lookup of a user without a key, and what they say of the service. */
const services: readonly (readonly [
  what: string,
  answer: ReturnType<typeof answerOf>,
  expected: Expected,
])[] = [
  ['the interface', answerOf(401, { error: 'Unauthorized' }), ['good', /in the words of the interface/]],
  ['other words', answerOf(401, { error: 'No key' }), ['good', /in other words: 401 \{"error":"No key"\}/]],
  ['a gateway', answerOf(401, 'denied'), ['unknown', /no error as the interface has them: 401 denied/]],
  [
    'a login',
    answerOf(302, '', { location: '/login' }),
    ['bad', /302, a redirect to \/login/, /behind any login/],
  ],
  [
    'http to https',
    answerOf(301, '', { location: 'https://x/' }),
    ['bad', /https:\/\/x\//, /give the https URL/],
  ],
  ['a website', answerOf(200, '<p>', html), ['bad', /HTML page/, /--header/]],
  ['a website without a type', answerOf(404, ' <!DOCTYPE html>'), ['bad', /HTML page/]],
  [
    'another path',
    answerOf(404, { error: 'Not found' }),
    ['bad', /nothing at this path/, /may carry a path/],
  ],
  ['a guard', answerOf(403, {}), ['bad', /in front of the service/, /--header/]],
  ['a broken service', answerOf(503, {}), ['bad', /503: it is there, and ill/]],
  ['one that says yes to all', answerOf(200, {}), ['bad', /200 \{\}, without a key/]],
  ['a limiter', answerOf(429, {}), ['unknown', /429 \{\}, where 401 is due/]],
];

for (const [what, answer, expected] of services)
  test(`behind the URL: ${what}`, () => {
    assertFinding(keyless('user-status', answer), expected);
    assert.equal(isStrange(answer), /redirect|HTML|path|front/.test(keyless('user-status', answer).words));
  });

const key = (rest: Partial<FixtureApiKey> = {}): FixtureApiKey => ({
  key: 'k',
  partner: 'p',
  state: 'active',
  ...rest,
});
const NOW = 1.75e12;
const letIn = { ...answerOf(200, { is_under_ib: false, date_joined: null }), receivedAt: NOW };
const refused = { ...answerOf(401, { error: 'Unauthorized' }), receivedAt: NOW };
const limited = answerOf(429, {});

/** Keys, how they are answered, and what that says. */
const keys: readonly (readonly [
  what: string,
  key: FixtureApiKey,
  answer: typeof letIn,
  expected: Expected,
])[] = [
  ['active, let in', key(), letIn, ['good', /^let in \(200\)$/]],
  ['active, turned away', key(), refused, ['bad', /apiKeys\[3\] is active/, /Correct apiKeys\[3\]\.key/]],
  ['active, limited', key(), limited, ['unknown', /429/]],
  ['active, limited by its own limits', key({ limits: {} }), limited, ['good', /its own limits/]],
  ['active, answered with a page', key(), answerOf(200, '<html>'), ['bad', /answered 200 <html>/]],
  ['active, answered 404', key(), answerOf(404, {}), ['bad', /answered 404/]],
  ['revoked, turned away', key({ state: 'revoked' }), refused, ['good', /being revoked/]],
  [
    'revoked, let in',
    key({ state: 'revoked' }),
    letIn,
    ['bad', /let in \(200\), though apiKeys\[3\] is revoked/],
  ],
  ['expired, let in', key({ state: 'expired' }), letIn, ['bad', /is expired/]],
  ['of nobody, turned away', key({ partner: null }), refused, ['good', /non-Partner account/]],
  ['of nobody, let in', key({ partner: null }), letIn, ['bad', /non-Partner account/]],
  ['expiring some time, turned away', key({ expiresAfterSeconds: 1 }), refused, ['good', /having expired/]],
  ['expiring some time, let in', key({ expiresAfterSeconds: 1 }), letIn, ['good', /let in/]],
  ['expiring later, turned away', key({ expiresAt: NOW + 1e6 }), refused, ['bad', /is active/]],
  ['expired long ago, turned away', key({ expiresAt: NOW - 1e6 }), refused, ['good', /expired/]],
  ['expired long ago, let in', key({ expiresAt: NOW - 1e6 }), letIn, ['bad', /expired/]],
  ['expiring about now, let in', key({ expiresAt: NOW - 1000 }), letIn, ['good', /let in/]],
];

for (const [what, apiKey, answer, expected] of keys)
  test(`a key: ${what}`, () => assertFinding(judgeKey(apiKey, 'apiKeys[3]', answer), expected));

test('a limiter is told, with its Retry-After', () => {
  assertFinding(judgeLimits([letIn], { limits: {} }), [
    'good',
    /no 429 among 1 answers; the fixture states no limits/,
  ]);
  assertFinding(judgeLimits([letIn, limited], { limits: {} }), [
    'bad',
    /429 to 1 of 2 .* without Retry-After/,
    /^Wait and ask/,
  ]);
  const patient = answerOf(429, {}, { 'retry-after': '7' });
  assertFinding(judgeLimits([limited, patient], { limits: {} }), ['bad', /Retry-After: 7/, /^Wait 7 s/]);
});
