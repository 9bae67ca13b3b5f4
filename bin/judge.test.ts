import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference, type Behaviour } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { variants } from '../mock/variants.ts';
import { renderJson, renderLine } from '../reports/json.ts';
import validate from '../schemas/generated/transcript.cjs';
import type { RunRecord, TranscriptLine } from '../schemas/generated/types.ts';
import {
  catalogue,
  createTranscriber,
  judgeTranscript,
  knowledge,
  readTranscript,
  type Requirement,
} from '../suites/index.ts';
import { loadFixture } from './fixture-file.ts';
import { failed } from '../suites/verdict.ts';
import { userStatus } from '../suites/request.ts';
import { verifyMock } from './canary.ts';
import { version } from './version.ts';

const fixture = await loadFixture(undefined, {});

/** The record of a run of a mock, and the text of its transcript. */
async function recorded(behaviour: Behaviour, seed = 7) {
  let text = '';
  const onEvent = createTranscriber(
    {
      known: knowledge(fixture),
      fixture,
      target: 'http://mock.invalid/',
      seed,
      cases: 30,
      version,
      requirements: catalogue.map(({ id }) => id),
      selection: { whole: true, skip: [] },
      hasStateHook: true,
    },
    (line) => (text += renderLine(line)),
  );
  const record = await verifyMock(behaviour, { fixture, seed, cases: 30, onEvent });
  for (const { key } of fixture.apiKeys!) assert.ok(!text.includes(key));
  return { record, text };
}

function linesOf(text: string): readonly TranscriptLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const parsed: unknown = JSON.parse(line);
      assert.ok(validate(parsed), `${JSON.stringify(validate.errors)} ${line}`);
      return parsed;
    });
}

const judged = (text: string, by = catalogue) => judgeTranscript(readTranscript(linesOf(text)), by, version);
const resultOf = ({ requirements }: RunRecord, id: string) => requirements.find((result) => result.id === id);

/** Every so manieth: all of them take a minute. */
const EVERY = Number(process.env['EVERY'] ?? 12);
const sampled = <Value>(table: Readonly<Record<string, Value>>) =>
  Object.entries(table).filter((_, at) => at % EVERY === 0);

describe('a transcript is judged as the run was, byte for byte', () => {
  test('the reference', async () => {
    const { record, text } = await recorded(reference);
    assert.equal(renderJson(await judged(text)), renderJson(record));
    assert.equal(record.verdict, 'conformant');
  });
  for (const [id, { change }] of [...sampled(faults), ...sampled(variants)])
    test(id, async () => {
      const { record, text } = await recorded(change(reference));
      assert.equal(renderJson(await judged(text)), renderJson(record));
    });
});

describe('a transcript that is cut off', () => {
  test('anywhere is never conformant, and passes nothing that the run had not passed', async () => {
    const { record, text } = await recorded(reference);
    const lines = text.trimEnd().split('\n');
    for (const share of [0.001, 0.2, 0.5, 0.8, 0.95, 0.999, 1]) {
      const rest = lines.slice(0, Math.ceil(share * (lines.length - 1)));
      const outcomes = rest.filter((line) => line.startsWith('{"line":"outcome"')).length;
      const cut = await judged(rest.join('\n'));
      assert.deepEqual([cut.verdict, cut.interrupted], ['incomplete', true], `${share}`);
      const missing = cut.requirements.filter(
        (result) => result.outcome === 'inconclusive' && result.reason === 'interrupted',
      );
      assert.equal(missing.length, record.requirements.length - outcomes, `${share}`);
    }
  });
  test('after a failure is nonconformant', async () => {
    const { text } = await recorded(faults['user-status-errors-nested']!.change(reference));
    const lines = text.split('\n');
    const failure = lines.findIndex((line) =>
      /"line":"outcome".*"level":"required".*"outcome":"failed"/.test(line),
    );
    const { verdict, interrupted } = await judged(lines.slice(0, failure + 1).join('\n'));
    assert.deepEqual([verdict, interrupted], ['nonconformant', true]);
  });
});

describe('the verdict comes from the answers', () => {
  const id = 'valid/deposit-check/executed';
  test('an answer that is another than it was', async () => {
    const { text } = await recorded(reference);
    const changed = text.replace(
      /^(?=.*"line":"exchange")(.*"text":"\{\\"status\\":\\")EXECUTED/gm,
      '$1executed',
    );
    assert.notEqual(changed, text);
    const result = resultOf(await judged(changed), id)!;
    assert.ok(result.outcome === 'failed');
    assert.match(result.actual, /executed/);
  });
  test('an answer that is missing', async () => {
    const { text } = await recorded(reference);
    const without = text.replace(
      /("line":"trial","of":"valid\/deposit-check\/executed".*"replies":)\[\d+\]/g,
      '$1[]',
    );
    const result = resultOf(await judged(without), id)!;
    assert.ok(result.outcome === 'inconclusive');
    assert.equal(result.reason, 'not-recorded');
  });
});

describe('a newer catalogue', () => {
  const strict = (requirement: Requirement): Requirement =>
    requirement.kind === 'property'
      ? {
          ...requirement,
          caseOf: (input, known) => ({
            ...requirement.caseOf(input, known),
            judge: () => failed('status', '418', 'another'),
          }),
        }
      : requirement;
  test('makes of the same answers what it makes of them', async () => {
    const { text } = await recorded(reference);
    const record = await judged(
      text,
      catalogue.map((requirement) =>
        requirement.id === 'valid/user-status/member' ? strict(requirement) : requirement,
      ),
    );
    assert.deepEqual(
      record.requirements.filter(({ outcome }) => outcome === 'failed').map((result) => result.id),
      ['valid/user-status/member'],
    );
  });
  test('asks for what nobody asked then: that is not held against the target, nor passed', async () => {
    const { text } = await recorded(reference);
    const [first] = catalogue;
    const record = await judged(text, [{ ...first!, id: 'valid/user-status/new' }, ...catalogue.slice(1)]);
    const result = resultOf(record, 'valid/user-status/new');
    assert.ok(result?.outcome === 'inconclusive' && result.reason === 'not-recorded');
    assert.equal(resultOf(record, first!.id), undefined, 'what is not in it any more is gone');
  });
  test('sends other requests for the same input: nothing can be said', async () => {
    const { text } = await recorded(reference);
    const other = catalogue.map((requirement): Requirement =>
      requirement.kind === 'property' && requirement.id === 'valid/user-status/member'
        ? {
            ...requirement,
            caseOf: (input, known) => ({
              ...requirement.caseOf(input, known),
              requests: [userStatus('other')],
            }),
          }
        : requirement,
    );
    const result = resultOf(await judged(text, other), 'valid/user-status/member');
    assert.ok(result?.outcome === 'inconclusive' && result.reason === 'not-recorded');
  });
});
