import type { LatencyBucket, RequirementResult, RunRecord, Traffic } from '../schemas/generated/types.ts';

const unauthorized = '{"error":"Unauthorized"}';
const curlOf = (path: string): string =>
  `curl -sS -i -H "Authorization: Bearer $IB_API_KEY" 'http://127.0.0.1:4010/api/ib/${path}'`;

const requirements: readonly RequirementResult[] = [
  {
    id: 'valid/user-status/member',
    level: 'required',
    clause: 'user-status, 200',
    title: 'A user of the caller’s IB is a member',
    cases: 100,
    outcome: 'passed',
  },
  {
    id: 'valid/user-status/percent-encoding',
    level: 'recommended',
    clause: 'RFC 3986, 6.2.2.2',
    title: 'Percent-encoded unreserved characters spell the same user',
    cases: 1234,
    outcome: 'passed',
  },
  {
    id: 'valid/service/json-content-type',
    level: 'recommended',
    clause: 'Transport',
    title: 'Every answer is labelled as JSON',
    cases: 3,
    outcome: 'failed',
    aspect: 'media type',
    expected: 'application/json',
    actual: 'text/html; charset=utf-8',
    counterexample: {
      request: { method: 'GET', target: '/api/ib/user-status', headers: {} },
      response: { status: 502, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '' },
      curl: curlOf('user-status'),
    },
  },
  {
    id: 'invalid-uuid/deposit-check/alternative-spelling',
    level: 'recommended',
    clause: 'RFC 9562, 4',
    title: 'Braced, urn:uuid: and unhyphenated spellings are answered 400',
    cases: 0,
    outcome: 'inconclusive',
    reason: 'budget',
    words: 'the time of the run was up before this requirement had its turn',
  },
  {
    id: 'foreign-ib/user-status/follows-key',
    level: 'required',
    clause: 'Scoping',
    title: 'With the other partner’s key the same user is a member',
    cases: 0,
    outcome: 'inconclusive',
    reason: 'no-second-key',
    words: 'needs an active key of another partner in the fixture',
  },
  {
    id: 'foreign-ib/deposit-check/timing',
    level: 'observed',
    clause: 'Scoping',
    title: 'Whether answer times tell foreign from unknown',
    cases: 200,
    outcome: 'observed',
    words: 'no difference found: medians of 1.2 ms and 1.2 ms, an effect of 0.3 ms would have been seen',
    data: { effect: 0.02 },
  },
  {
    id: 'auth/user-status/missing',
    level: 'required',
    clause: 'Authentication, 4',
    title: 'No Authorization field is answered 401 with the exact body of the endpoint',
    reading: 'Where 400 applies as well, either may come first.',
    cases: 12,
    outcome: 'failed',
    aspect: 'message',
    expected: unauthorized,
    actual: '{"error":"Un\u0430uthorized"}',
    counterexample: {
      request: { method: 'GET', target: '/api/ib/user-status?user_id=', headers: {} },
      response: {
        status: 401,
        headers: { 'Content-Type': 'application/json' },
        body: '{"error":"Un\u0430uthorized"}\n',
      },
      curl: "curl -sS -i 'http://127.0.0.1:4010/api/ib/user-status?user_id='",
    },
    replay: { seed: 7, path: '3:0:1' },
  },
  {
    id: 'auth/deposit-check/revoked',
    level: 'required',
    clause: 'Authentication, 4',
    title: 'A revoked key is answered 401 with the exact body of the endpoint',
    cases: 4,
    outcome: 'failed',
    aspect: 'status',
    expected: '401',
    actual: '404',
    counterexample: {
      request: { method: 'GET', target: '/api/ib/deposit-check', headers: {} },
      response: { status: 404, headers: {}, body: '{"error":"Deposit not found"}' },
      curl: curlOf('deposit-check?reference_id=11111111-1111-4111-8111-111111111111'),
      key: '<key northwind/revoked>',
    },
    replay: { seed: 7, path: '0' },
  },
  {
    id: 'auth/user-status/unknown-key',
    level: 'required',
    clause: 'Authentication, 4',
    title: 'An unknown key is answered 401 with the exact body of the endpoint',
    cases: 41,
    outcome: 'inconclusive',
    reason: 'timeout',
    words: 'no answer within 5 s, twice',
    counterexample: {
      request: { method: 'GET', target: '/api/ib/user-status', headers: {} },
      trouble: 'no header of an answer within 5,000 ms',
      curl: curlOf('user-status'),
    },
    replay: { seed: 7, path: '41' },
  },
  {
    id: 'auth/user-status/revocation',
    level: 'required',
    clause: 'Authentication, 4',
    title: 'A key revoked during the run stops working',
    cases: 0,
    outcome: 'excluded',
    reason: 'no-state-hook',
    words: 'needs --state-url',
  },
  {
    id: 'auth/service/www-authenticate',
    level: 'observed',
    clause: 'RFC 9110, 15.5.2',
    title: 'Whether a 401 carries WWW-Authenticate',
    cases: 0,
    outcome: 'broken',
    words: "TypeError: Cannot read properties of undefined (reading 'headers')",
  },
  {
    id: 'rate-limit/user-status/failed-lookups',
    level: 'required',
    clause: 'Limits',
    title: 'Repeated failed lookups in a short window end in 429',
    cases: 0,
    outcome: 'excluded',
    reason: 'skipped',
    words: 'left out by --skip',
  },
  {
    id: 'rate-limit/user-status/window',
    level: 'observed',
    clause: 'Limits',
    title: 'After what time the limiter lets go',
    cases: 0,
    outcome: 'excluded',
    reason: 'skipped',
    words: 'left out by --skip',
  },
];

/** A latency that so many answers took, in the bucket that it falls into. */
const took = (answers: number, fromMs: number, toMs: number): LatencyBucket => ({ answers, fromMs, toMs });

/** A burst, a pause that a limiter asked for, and the rest, with a connection that broke. */
const steps = Array.from({ length: 53 }, (_, at) => ({
  answers: at < 12 ? 70 - 3 * at : at < 45 ? 0 : 127,
  limited: at === 11 ? 12 : 0,
  troubles: at === 50 ? 1 : 0,
}));

const traffic: Traffic = {
  endpoints: [
    {
      endpoint: 'user-status',
      answers: 980,
      medianMs: 1.2,
      p95Ms: 2.4,
      p99Ms: 9.8,
      maxMs: 41.3,
      histogram: [
        took(80, 0.917, 1),
        took(340, 1, 1.091),
        took(300, 1.091, 1.189),
        took(160, 1.189, 1.297),
        took(55, 1.834, 2),
        took(30, 2.181, 2.378),
        took(14, 9.514, 10.37),
        took(1, 38.05, 41.5),
      ],
    },
    {
      endpoint: 'deposit-check',
      answers: 626,
      medianMs: 4.2,
      p95Ms: 5.1,
      p99Ms: 5.1,
      maxMs: 5.2,
      histogram: [took(600, 4, 4.362), took(26, 4.757, 5.187)],
    },
  ],
  timeline: { stepMs: 80, steps },
};

/** A record that holds every outcome and every level: what the formats are shown by. */
export const sampleRecord: RunRecord = {
  format: 'ib-conformance/run/1',
  version: '0.1.0',
  verdict: 'nonconformant',
  target: 'http://127.0.0.1:4010/',
  partner: 'northwind',
  seed: 7,
  selection: {
    whole: true,
    skip: ['rate-limit/user-status/failed-lookups', 'rate-limit/user-status/window'],
  },
  startedAt: '2026-01-15T10:40:00.000Z',
  durationMs: 4210,
  requests: 1607,
  cases: 100,
  interrupted: false,
  rateLimited: { answers: 12, waitedMs: 3200 },
  canary: ['key-case-ignored', 'nul-crashes'],
  diagnosis: [{ fault: 'empty-token-accepted', what: 'An empty token is let in.', fit: 0.75 }],
  notes: ['The fixture states no limits: thresholds are observed, not judged.'],
  rerun: 'ib-conformance verify http://127.0.0.1:4010/ --fixture f.json',
  counts: {
    required: { passed: 1, failed: 2, inconclusive: 2 },
    recommended: { passed: 1, failed: 1, inconclusive: 1 },
    observed: 1,
    excluded: 3,
    broken: 1,
  },
  requirements: [...requirements],
  traffic,
};

/** A run before that of `sampleRecord`: between the two there is every kind of change. */
export const earlierRecord: RunRecord = {
  ...sampleRecord,
  startedAt: '2026-01-14T10:40:00.000Z',
  seed: 5,
  requirements: requirements
    .filter(({ id }) => id !== 'auth/user-status/revocation')
    .map((result): RequirementResult => {
      const { id, level, clause, title, cases } = result;
      const subject = { id, level, clause, title, cases };
      switch (id) {
        case 'auth/deposit-check/revoked':
        case 'auth/user-status/unknown-key':
          return { ...subject, outcome: 'passed' };
        case 'valid/user-status/percent-encoding':
          return { ...subject, outcome: 'failed', aspect: 'status', expected: '200', actual: '400' };
        case 'valid/user-status/member':
          return {
            ...subject,
            outcome: 'inconclusive',
            reason: 'flaky',
            words: 'two answers to one request',
          };
        case 'rate-limit/user-status/window':
          return { ...result, id: 'rate-limit/user-status/gone' };
        default:
          return result;
      }
    }),
};
