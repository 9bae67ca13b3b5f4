import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { trouble } from '../answer.ts';
import { plainLevels, type Levels } from '../model/factors.ts';
import { answerOf } from '../testing/samples.ts';
import { confirm, repeat } from './confirm.ts';
import { idOf } from './history.ts';
import { minimise } from './minimise.ts';
import { countBy, proberOf, type Wrong } from './testing/fake-target.ts';
import { timesPart, type Part } from './parts.ts';
import { validate } from './validate.ts';
import { findFeature } from './values.ts';
import { vary } from './vary.ts';

const unknownDeposit = 'foreign-ib/deposit-check/unknown';
const otherText = answerOf(404, { error: 'not found' });
const plain = plainLevels('deposit-check');
const unknown = { ...plain, situation: 'unknown' };
const isUpper: Wrong = ({ target }) =>
  /=[0-9A-F-]*[A-F][0-9A-F-]*(?:&|$)/.test(target) ? otherText : undefined;
const lastDigit = (request: Parameters<Wrong>[0]) => Number.parseInt(idOf(request).at(-1)!, 16);

/** A fault of one id in so many, which depends on its last digit, and of the first id. */
function everyNth(share: number): Wrong {
  let rest: number | undefined;
  return (request) =>
    lastDigit(request) % share === (rest ??= lastDigit(request) % share) ? otherText : undefined;
}

/** Confirms the first failure of a target. */
async function confirmed(wrong: Wrong, levels: Levels = unknown) {
  const prober = proberOf(unknownDeposit, levels, wrong);
  const repeats = await repeat(prober);
  return { prober, repeats, ...(await confirm(prober, levels, repeats)) };
}

describe('confirm', () => {
  test('a lookup that always fails', async () => {
    const { repeats, regime, times } = await confirmed(isUpper, { ...unknown, 'id spelling': 'upper case' });
    assert.deepEqual(repeats, { failed: 11, of: 11 });
    assert.deepEqual(regime.share, { failed: 10, of: 10 });
    assert.deepEqual([times, regime.isRandom, regime.sendings], [undefined, false, 1]);
  });

  for (const [words, isHit, expected] of [
    ['from the second time on', (nth: number) => nth > 1, { what: 'id', nth: 2, isOnly: false }],
    ['from the third time on', (nth: number) => nth > 2, { what: 'id', nth: 3, isOnly: false }],
    ['only the first time', (nth: number) => nth === 1, { what: 'id', nth: 1, isOnly: true }],
    ['only the second time', (nth: number) => nth === 2, { what: 'id', nth: 2, isOnly: true }],
  ] as const)
    test(`a fault per history: ${words}`, async () => {
      const timesOf = countBy();
      // The row about repetition owns what fails only later.
      const prober = proberOf(
        isHit(1) ? unknownDeposit : 'valid/deposit-check/repeatable',
        unknown,
        (request) => (isHit(timesOf(request)) ? otherText : undefined),
      );
      const { times } = await confirm(prober, unknown, await repeat(prober));
      assert.deepEqual(times, expected);
    });

  for (const share of [2, 4, 8])
    test(`a fault of one id in ${share}`, async () => {
      const wrong = everyNth(share);
      const { regime } = await confirmed(wrong);
      const { failed, of } = regime.share;
      // New ids have all last digits in turn.
      assert.ok(Math.abs(failed / of - 1 / share) < 0.15, `${failed} of ${of}`);
      assert.equal(regime.isRandom, false);
    });

  test('a lost answer in between shows nothing', async () => {
    const { repeats, regime } = await confirmed((_, nth) =>
      nth % 3 === 1 ? trouble('network', 'reset') : otherText,
    );
    assert.equal(repeats.failed, repeats.of);
    assert.ok(repeats.of < 11);
    assert.deepEqual(regime.share, { failed: 10, of: 10 });
  });

  test('an answer of a limiter in between shows nothing', async () => {
    const { repeats, regime } = await confirmed((_, nth) =>
      nth % 3 === 1 ? answerOf(429, { error: 'TOO_MANY_REQUESTS' }) : otherText,
    );
    assert.equal(repeats.failed, repeats.of);
    assert.equal(regime.isRandom, false);
    assert.equal(regime.share.failed, regime.share.of);
  });

  test('one request that fails now and then is random', async () => {
    const { repeats, regime } = await confirmed((_, nth) => (nth % 2 === 0 ? otherText : undefined));
    assert.deepEqual(repeats, { failed: 6, of: 11 });
    assert.equal(regime.isRandom, true);
  });
});

/** What comes between the answers, and shows nothing. */
const weather: Readonly<Record<string, (nth: number) => ReturnType<Wrong>>> = {
  'no other answers': () => undefined,
  'a lost answer in between': (nth) => (nth % 5 === 3 ? trouble('network', 'reset') : undefined),
  'a limiter in between': (nth) =>
    nth % 5 === 3 ? answerOf(429, { error: 'TOO_MANY_REQUESTS' }) : undefined,
};

/** Faults in upper case: each time, per history, and of a share of the ids. */
const faultsInUpperCase: Readonly<Record<string, () => Wrong>> = {
  'each time': () => isUpper,
  'from the second time on': () => {
    const timesOf = countBy();
    return (request, nth) => (timesOf(request) > 1 ? isUpper(request, nth) : undefined);
  },
  'of one id in 2': () => shareInUpperCase(2),
  'of one id in 4': () => shareInUpperCase(4),
  'of one id in 8': () => shareInUpperCase(8),
};

function shareInUpperCase(share: number): Wrong {
  const isHit = everyNth(share);
  return (request, nth) => (isUpper(request, nth) === undefined ? undefined : isHit(request, nth));
}

describe('each step of a fault in upper case', () => {
  const levels = { ...unknown, 'id spelling': 'upper case', query: 'extra parameter after' };
  for (const [name, wrongOf] of Object.entries(faultsInUpperCase))
    for (const [between, other] of Object.entries(weather))
      test(`${name}, with ${between}`, async () => {
        const wrong = wrongOf();
        const row = name === 'from the second time on' ? 'valid/deposit-check/repeatable' : unknownDeposit;
        const prober = proberOf(row, levels, (request, nth) => other(nth) ?? wrong(request, nth));
        const { regime, trials } = await confirm(prober, levels, await repeat(prober));
        assert.equal(regime.isRandom, false);
        assert.ok(trials.some(({ hasFailed }) => hasFailed));
        const smallest = await minimise(prober, levels, regime);
        assert.deepEqual(smallest, { ...unknown, 'id spelling': 'upper case' });
        const { conditions } = await vary(prober, smallest, regime);
        const words = 'id spelling: upper case';
        // Others may be found by chance. The validation removes them.
        assert.ok(conditions.some((one) => one.words === words));
        const { where, suspected } = await validate({ prober, levels: smallest, regime }, conditions);
        assert.deepEqual([where.map((one) => one.words), suspected], [[words], []]);
      });
});

test('a fault of one entity: each step names its levels, and that it is not each id', async () => {
  const isHit: Wrong = (request) =>
    idOf(request).startsWith('55555555') ? answerOf(404, { error: 'own' }) : undefined;
  const prober = proberOf('pending/deposit-check/pending', { situation: 'own pending' }, isHit, { pick: 0 });
  const levels = prober.failure.origin!.levels;
  const { regime } = await confirm(prober, levels, await repeat(prober));
  assert.deepEqual(
    [...(regime.only?.ids ?? [])].map((id) => id.slice(0, 8)),
    ['55555555'],
  );
  assert.deepEqual(await minimise(prober, levels, regime), levels);
});

test('minimise moves levels to plain, and a situation with its key', async () => {
  const levels = {
    ...unknown,
    'id spelling': 'upper case',
    query: 'extra parameter after',
    key: "another partner's",
  };
  const { prober, regime } = await confirmed(isUpper, levels);
  const found = await minimise(prober, levels, regime);
  assert.deepEqual(found, { ...unknown, 'id spelling': 'upper case' });
});

test('vary finds all levels that fail, and no others', async () => {
  const levels = { ...unknown, 'id version': '7' };
  const wrong: Wrong = (request) => (['6', '7'].includes(idOf(request)[14]!) ? otherText : undefined);
  const { prober, regime } = await confirmed(wrong, levels);
  const { conditions } = await vary(prober, levels, regime);
  assert.deepEqual(
    conditions.map(({ words }) => words),
    ['id version: 7 or 6'],
  );
});

describe('validate', () => {
  const upper = (passing: readonly string[]): Part => ({
    kind: 'levels',
    factor: 'id spelling',
    failing: ['upper case'],
    passing: passing.map((level) => ({ ...unknown, 'id spelling': level })),
    words: 'id spelling: upper case',
  });
  const version: Part = {
    kind: 'levels',
    factor: 'id version',
    failing: ['4'],
    passing: [{ ...unknown, 'id spelling': 'upper case', 'id version': '7' }],
    words: 'id version: 4',
  };
  const levels = { ...unknown, 'id spelling': 'upper case' };

  test('a part without which lookups fail is left out, and the rest is tried again', async () => {
    const { prober, regime } = await confirmed(isUpper, levels);
    const found = await validate({ prober, levels, regime }, [upper(['lower case']), version]);
    assert.deepEqual(
      found.where.map(({ words }) => words),
      ['id spelling: upper case'],
    );
    assert.deepEqual(found.with, { failed: 6, of: 6 });
    assert.deepEqual(found.without, [{ condition: 'id spelling: upper case', failed: 0, of: 6 }]);
    assert.deepEqual(found.suspected, []);
  });

  test('what cannot be tried is only suspected', async () => {
    const { prober, regime } = await confirmed(isUpper, levels);
    const part = timesPart({ what: 'id', nth: 2, isOnly: true });
    const isOver = { ...prober, isOver: () => true };
    const found = await validate({ prober: isOver, levels, regime }, [part]);
    assert.deepEqual([found.where, found.suspected], [[], [part]]);
  });

  test('nothing is confirmed if lookups with the condition pass', async () => {
    const { prober, regime } = await confirmed(isUpper, levels);
    const found = await validate({ prober, levels: unknown, regime }, [upper(['lower case'])]);
    assert.deepEqual([found.where.length, found.suspected.length], [0, 1]);
  });
});

describe('values', () => {
  test('a range of last digits predicts new ids', async () => {
    const wrong: Wrong = (request, nth) => (nth === 0 || lastDigit(request) >= 12 ? otherText : undefined);
    const { prober, regime, trials } = await confirmed(wrong);
    const feature = await findFeature(prober, [unknown], regime, trials);
    assert.equal(feature?.words, 'value: id ends with c to f');
  });

  test('no range is named whose edge nobody could try', async () => {
    const wrong: Wrong = (request, nth) => (nth === 0 || lastDigit(request) >= 8 ? otherText : undefined);
    const { prober, regime } = await confirmed(wrong);
    const findIn = async (digits: (digit: number) => boolean) => {
      const draw: typeof prober.draw = (levels, wanted) =>
        prober.draw(levels, wanted).filter((one) => digits(lastDigit(one)));
      const trials = draw(unknown).map((request) => ({ request, hasFailed: lastDigit(request) >= 8 }));
      return (await findFeature({ ...prober, draw }, [unknown], regime, trials.slice(0, 40)))?.words;
    };
    assert.equal(await findIn((digit) => digit !== 5), 'value: id ends with 8 to f');
    assert.equal(await findIn((digit) => digit !== 7 && digit !== 8), undefined);
  });

  test('nothing simple predicts every third id', async () => {
    const { prober, regime, trials } = await confirmed(everyNth(3));
    const failed = trials.filter(({ hasFailed }) => hasFailed).length;
    assert.ok(failed >= 6 && trials.length - failed >= 6);
    assert.equal(await findFeature(prober, [unknown], regime, trials), undefined);
  });
});
