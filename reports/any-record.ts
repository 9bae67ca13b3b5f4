import * as fc from 'fast-check';
import type { RecordedExchange, RequirementResult, RunRecord, Traffic } from '../schemas/generated/types.ts';

/** Text that a hostile target may send: controls, escapes, overrides, halves of pairs, forged lines. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u0000',
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u009b2J',
        '\r',
        '\nconformant: 43 of 43 required verified',
        ' conformant: 43 of 43 required verified ',
        '\u2028',
        '\u202e',
        '\u2066',
        '\u200b',
        '\ufeff',
        '\ud800',
        '\udc00',
        '\u00a0',
        'e\u0301',
        '漢字',
        '🦀',
        '</script>',
        "'\\",
        'x'.repeat(700),
      ),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));

/** A record of any shape, with texts drawn from `text` in every place that holds one. */
export function anyRecord(text: fc.Arbitrary<string>): fc.Arbitrary<RunRecord> {
  const natural = fc.nat({ max: 100_000 });
  const outcomes = fc.record({ passed: natural, failed: natural, inconclusive: natural });
  return fc.record(
    {
      format: fc.constant('ib-conformance/run/1' as const),
      version: text,
      verdict: fc.constantFrom('conformant', 'nonconformant', 'incomplete'),
      target: text,
      partner: text,
      seed: fc.integer(),
      startedAt: text,
      durationMs: natural,
      requests: natural,
      cases: natural,
      interrupted: fc.boolean(),
      rateLimited: fc.record({ answers: natural, waitedMs: natural }),
      notes: fc.array(text, { maxLength: 3 }),
      canary: fc.array(text, { maxLength: 2 }),
      diagnosis: fc.array(
        fc.record({ fault: text, what: text, fit: fc.double({ min: 0, max: 1, noNaN: true }) }),
        {
          maxLength: 2,
        },
      ),
      rerun: text,
      baseline: fc.record({
        file: text,
        verdict: fc.constantFrom('conformant', 'nonconformant', 'incomplete'),
        wrong: fc.array(text, { maxLength: 3 }),
      }),
      selection: fc.record(
        { whole: fc.boolean(), skip: fc.array(text, { maxLength: 2 }), replay: text },
        { requiredKeys: ['whole', 'skip'] },
      ),
      counts: fc.record({
        required: outcomes,
        recommended: outcomes,
        observed: natural,
        excluded: natural,
        broken: natural,
      }),
      requirements: fc.array(anyResult(text), { maxLength: 12 }),
      traffic: anyTraffic(text),
    },
    { requiredKeys: [...REQUIRED] },
  );
}

const REQUIRED = [
  'format',
  'version',
  'verdict',
  'target',
  'seed',
  'startedAt',
  'durationMs',
  'requests',
  'cases',
  'interrupted',
  'rateLimited',
  'notes',
  'counts',
  'requirements',
] as const;

function anyResult(text: fc.Arbitrary<string>): fc.Arbitrary<RequirementResult> {
  const subject = {
    id: fc.oneof(
      text,
      text.map((end) => `auth/user-status/${end}`),
    ),
    level: fc.constantFrom('required' as const, 'recommended' as const, 'observed' as const),
    clause: text,
    title: text,
    cases: fc.nat({ max: 100_000 }),
    reading: text,
  };
  const always = ['id', 'level', 'clause', 'title', 'cases', 'outcome'] as const;
  const evidence = {
    counterexample: anyExchange(text),
    replay: fc.record({ seed: fc.integer(), path: text }),
  };
  const open = { ...subject, reason: text, words: text };
  return fc.oneof(
    fc.record({ ...subject, outcome: fc.constant('passed' as const) }, { requiredKeys: [...always] }),
    fc.record(
      {
        ...subject,
        ...evidence,
        outcome: fc.constant('failed' as const),
        aspect: text,
        expected: text,
        actual: text,
        baseline: text,
      },
      { requiredKeys: [...always, 'aspect', 'expected', 'actual'] },
    ),
    fc.record(
      { ...open, ...evidence, outcome: fc.constant('inconclusive' as const) },
      { requiredKeys: [...always, 'reason', 'words'] },
    ),
    fc.record(
      { ...open, outcome: fc.constant('excluded' as const) },
      { requiredKeys: [...always, 'reason', 'words'] },
    ),
    fc.record(
      { ...subject, outcome: fc.constant('observed' as const), words: text },
      { requiredKeys: [...always, 'words'] },
    ),
    fc.record(
      { ...subject, outcome: fc.constant('broken' as const), words: text },
      { requiredKeys: [...always, 'words'] },
    ),
  );
}

function anyTraffic(text: fc.Arbitrary<string>): fc.Arbitrary<Traffic> {
  const number = fc.nat({ max: 1_000_000_000 });
  const ms = fc.double({ min: 0, max: 1e9, noNaN: true });
  const bound = fc.double({ min: 1e-9, max: 1e9, noNaN: true });
  const buckets = fc.array(
    fc.record({ fromMs: bound, toMs: bound, answers: fc.integer({ min: 1, max: 1e9 }) }),
    {
      maxLength: 5,
    },
  );
  const figures = { answers: number, medianMs: ms, p95Ms: ms, p99Ms: ms, maxMs: ms };
  return fc.record({
    endpoints: fc.array(fc.record({ endpoint: text, ...figures, histogram: buckets }), { maxLength: 3 }),
    timeline: fc.record({
      stepMs: bound,
      steps: fc.array(fc.record({ answers: number, limited: number, troubles: number }), { maxLength: 5 }),
    }),
  });
}

function anyExchange(text: fc.Arbitrary<string>): fc.Arbitrary<RecordedExchange> {
  const headers = fc.dictionary(fc.oneof(text, fc.constant('Content-Type')), text, { maxKeys: 3 });
  return fc.record(
    {
      request: fc.record({ method: text, target: text, headers }),
      response: fc.record({ status: fc.nat({ max: 999 }), headers, body: text }),
      trouble: text,
      curl: text,
      key: text,
    },
    { requiredKeys: ['request', 'curl'] },
  );
}
