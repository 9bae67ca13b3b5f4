import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Reply, Trouble } from '../answer.ts';
import { property, type PropertySpec } from '../property.ts';
import { lookup, type Request } from '../request.ts';
import { answerOf } from '../sample-answers.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { depends, failed, held, type Verdict } from '../verdict.ts';
import type { Courier, Delivery } from './courier.ts';
import { examine } from './judge-property.ts';
import { createSlots } from './pool.ts';
import type { Judgement } from './trial.ts';

/** A target: what it says to a request, and to the how manieth of its kind. */
type Target = (value: number, again: number, request: Request) => Reply;

const trouble = (code: Trouble['code']): Trouble => ({ kind: 'trouble', code, words: `no: ${code}` });
const key = known.callerKeys[0]!;
const ask = (value: number): Request =>
  lookup('user-status', `n=${value}`, { credential: { as: 'key', key } });
const valueOf = ({ target }: Request) => Number(target.slice(target.indexOf('=') + 1));

/** Carries requests to a target in memory, each in a time of its own; knows what it was asked. */
function scripted(
  target: Target,
  more: { readonly pace?: number; readonly keyWorks?: boolean | undefined } = {},
) {
  const { pace = 0, keyWorks } = { keyWorks: true, ...more };
  const log: { readonly value: number; readonly via: 'deliver' | 'share' }[] = [];
  const carry = async (request: Request, via: 'deliver' | 'share') => {
    const value = valueOf(request);
    const again = log.filter((entry) => entry.value === value).length;
    log.push({ value, via });
    for (let tick = (value * pace) % 7; tick > 0; tick--) await new Promise(setImmediate);
    return { request, reply: target(value, again, request) };
  };
  const shared = new Map<number, ReturnType<typeof carry>>();
  const courier: Courier = {
    deliver: (request) => carry(request, 'deliver'),
    deliverFirst: (request) => carry(request, 'deliver'),
    share: (request) => {
      const first = shared.get(valueOf(request)) ?? carry(request, 'share');
      shared.set(valueOf(request), first);
      return first;
    },
    deliverAnyway: () => assert.fail('a 429 is never asked for here'),
    rest: () => assert.fail('nothing to wait for'),
    settle: () => assert.fail('nothing to settle'),
    rateLimited: () => 0,
    keyWorks: () => keyWorks,
  };
  return { courier, asked: (value: number) => log.filter((entry) => entry.value === value), log };
}

const subject = { id: 'valid/user-status/x', level: 'required', clause: '', title: '' } as const;
const is200: PropertySpec<number>['holds'] = ([answer]) =>
  answer!.status === 200 ? held : failed(`status ${answer!.status}`, '200', String(answer!.status));

/** A property of numbers; 200 is what a target should say to each. */
const ofNumbers = (spec: Partial<PropertySpec<number>> = {}) =>
  property<number>({ ...subject, given: () => fc.nat(100_000), ask: (n) => [ask(n)], holds: is200, ...spec });
/** As above, with these inputs and no others. */
const ofThese = (values: readonly number[], spec: Partial<PropertySpec<number>> = {}) => {
  const { given: _, ...rest } = { given: undefined, ask: (n: number) => [ask(n)], holds: is200, ...spec };
  return property<number>({ ...subject, every: () => values, ...rest });
};

const draw = { seed: 7, cases: 100 };
const judge = async (
  requirement: ReturnType<typeof ofNumbers>,
  courier: Courier,
  more: { readonly concurrency?: number; readonly path?: string; readonly seed?: number } = {},
): Promise<Judgement> => {
  const { concurrency = 8, seed = draw.seed, ...path } = more;
  const examination = examine(requirement, {
    known,
    courier,
    draw: { ...draw, seed },
    slots: createSlots(concurrency),
    ...path,
  });
  return (await examination.advance(Number.POSITIVE_INFINITY))!;
};

const says = (status: number) => answerOf(status, {});
const good: Target = () => says(200);
const failsFrom =
  (edge: number): Target =>
  (value) =>
    says(value >= edge ? 500 : 200);
const short = (verdict: Verdict) =>
  verdict.kind === 'failed' ? verdict.aspect : verdict.kind === 'unjudged' ? verdict.reason : verdict.kind;

describe('a property that holds', () => {
  test('holds, with so many distinct inputs', async () => {
    const { courier, log } = scripted(good);
    const judgement = await judge(ofNumbers(), courier);
    const values = new Set(log.map(({ value }) => value));
    assert.deepEqual(judgement, { verdict: held, cases: values.size });
    assert.ok(judgement.cases > 50);
  });
  test('counts equal inputs once, and asks for them once', async () => {
    const { courier, asked } = scripted(good);
    const judgement = await judge(ofThese([1, 2, 1, 1, 2, 3]), courier);
    assert.deepEqual(judgement, { verdict: held, cases: 3 });
    assert.equal(asked(1).length, 1);
  });
  test('shares its requests unless it wants fresh ones', async () => {
    for (const [fresh, via] of [
      [false, 'share'],
      [true, 'deliver'],
    ] as const) {
      const { courier, log } = scripted(good);
      await judge(ofThese([1, 2], { fresh }), courier);
      assert.deepEqual(new Set(log.map((entry) => entry.via)), new Set([via]));
    }
  });
  test('sends the requests of an input in turn, or at once where it says so', async () => {
    for (const [atOnce, expected] of [
      [false, 1],
      [true, 3],
    ] as const) {
      let [under, most] = [0, 0];
      const { courier } = scripted(good, { pace: 1 });
      const counting: Courier = {
        ...courier,
        share: async (request, name) => {
          most = Math.max(most, ++under);
          const delivery = await courier.share(request, name);
          under--;
          return delivery;
        },
      };
      await judge(ofThese([1], { ask: () => [ask(1), ask(2), ask(3)], atOnce }), counting);
      assert.equal(most, expected);
    }
  });
});

describe('a property that fails', () => {
  const failing = ofNumbers();
  const edge = 1000;

  test('gives the first failing input, whatever the concurrency and the order of the answers', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const values = failing.draw(known, { ...draw, seed }).map(({ requests }) => valueOf(requests[0]!));
      const first = values.findIndex((value) => value >= edge);
      for (const concurrency of [1, 2, 16, 1000])
        for (const pace of [0, 1, 3]) {
          // Each failing input fails in a way of its own, so that it cannot shrink into another.
          const requirement = ofNumbers({
            holds: ([answer], value) =>
              answer!.status === 200 ? held : failed(`of ${value}`, '200', String(answer!.status)),
          });
          const { courier } = scripted(failsFrom(edge), { pace });
          const { path, verdict } = await judge(requirement, courier, { seed, concurrency });
          assert.equal(path, String(first));
          assert.equal(short(verdict), `of ${values[first]}`);
        }
    }
  });
  test('is shrunk to the smallest input, and the path leads to the very same', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { courier } = scripted(failsFrom(edge));
      const { verdict, evidence, path } = await judge(failing, courier, { seed });
      assert.equal(short(verdict), 'status 500');
      assert.equal(valueOf(evidence!.request), edge);
      const replayed = failing.drawAt(known, { ...draw, seed }, path!);
      assert.deepEqual(replayed.requests, [evidence!.request]);
    }
  });
  test('is shrunk alike where listed inputs come first', async () => {
    const requirement = ofNumbers({ every: () => [1, 2, 3] });
    const { courier } = scripted(failsFrom(edge));
    const { evidence, path } = await judge(requirement, courier);
    assert.equal(valueOf(evidence!.request), edge);
    assert.deepEqual(requirement.drawAt(known, draw, path!).requests, [evidence!.request]);
    assert.ok(Number(path!.split(':')[0]) >= 3);
  });
  test('keeps to a listed input that fails, and its path leads to it', async () => {
    const requirement = ofThese([1, 5000, 9000]);
    const { courier } = scripted(failsFrom(edge));
    const { evidence, path } = await judge(requirement, courier);
    const value = valueOf(evidence!.request);
    assert.equal(value, 5000);
    assert.deepEqual(requirement.drawAt(known, draw, path!).requests, [evidence!.request]);
  });
  test('is not shrunk into another failure', async () => {
    const target: Target = (value) => says(value >= 20_000 ? 500 : value >= 100 ? 404 : 200);
    for (let seed = 1; seed <= 20; seed++) {
      const first = failing
        .draw(known, { ...draw, seed })
        .map(({ requests }) => valueOf(requests[0]!))
        .find((value) => value >= 100)!;
      const { verdict, evidence } = await judge(failing, scripted(target).courier, { seed });
      assert.equal(short(verdict), first >= 20_000 ? 'status 500' : 'status 404');
      assert.equal(valueOf(evidence!.request), first >= 20_000 ? 20_000 : 100);
    }
  });
  test('a 429 or a lost answer on the way is not the smallest failure', async () => {
    for (const reply of [says(200), trouble('timeout'), trouble('rate-limited'), trouble('network')]) {
      const target: Target = (value) => (value >= edge ? says(500) : reply);
      const requirement = ofNumbers({ every: () => [70_000] });
      const { verdict, evidence } = await judge(requirement, scripted(target).courier, { concurrency: 1 });
      assert.equal(short(verdict), 'status 500');
      assert.ok(valueOf(evidence!.request) >= edge);
    }
  });
  test('is judged although something else was in trouble before it', async () => {
    const target: Target = (value) => (value === 1 ? trouble('timeout') : says(value === 2 ? 500 : 200));
    const { verdict, path } = await judge(ofThese([1, 2]), scripted(target).courier);
    assert.equal(short(verdict), 'status 500');
    assert.equal(path, '1');
  });
  test('shows the exchange that it speaks of', async () => {
    const requirement = ofThese([1], {
      ask: () => [ask(10), ask(11), ask(12)],
      holds: () => failed('value', 'a', 'b', 2),
    });
    const { evidence } = await judge(requirement, scripted(good).courier);
    assert.equal(valueOf(evidence!.request), 12);
  });
  test('is judged alone where a path is given, without asking again', async () => {
    const { courier, log } = scripted(failsFrom(edge));
    const first = await judge(failing, courier);
    log.length = 0;
    const again = await judge(failing, scripted(failsFrom(edge)).courier, { path: first.path! });
    assert.deepEqual(again, { ...first, cases: 1 });
    const passing = scripted(good);
    const { verdict, cases } = await judge(failing, passing.courier, { path: first.path! });
    assert.deepEqual([verdict, cases, passing.log.length], [held, 1, 1]);
  });
  test('a path that leads nowhere is an error', () => {
    assert.throws(() => ofThese([1]).drawAt(known, draw, '0:9:9:9'));
  });
});

describe('a failure is confirmed', () => {
  test('another answer when asked again: flaky, not failed', async () => {
    const target: Target = (value, again) => says(value === 3 && again === 0 ? 500 : 200);
    const { courier, asked } = scripted(target);
    const { verdict, evidence, path } = await judge(ofThese([1, 2, 3, 4]), courier);
    assert.equal(short(verdict), 'flaky');
    assert.equal(path, '2');
    assert.equal(valueOf(evidence!.request), 3);
    assert.deepEqual(
      asked(3).map(({ via }) => via),
      ['share', 'deliver'],
      'asked again in truth',
    );
  });
  for (const code of ['timeout', 'network', 'rate-limited', 'budget', 'interrupted'] as const)
    test(`${code} when asked again: that`, async () => {
      const target: Target = (_, again) => (again === 0 ? says(500) : trouble(code));
      const { verdict } = await judge(ofThese([1]), scripted(target).courier);
      assert.equal(short(verdict), code);
    });
  test('in a place of its own among all that is under way, as it is made smaller', async () => {
    let [under, most] = [0, 0];
    const { courier } = scripted(failsFrom(0), { pace: 1 });
    const counted =
      <Rest extends readonly unknown[]>(carry: (...rest: Rest) => Promise<Delivery>) =>
      async (...rest: Rest) => {
        most = Math.max(most, ++under);
        const delivery = await carry(...rest);
        under--;
        return delivery;
      };
    const counting = { ...courier, share: counted(courier.share), deliver: counted(courier.deliver) };
    const context = { known, courier: counting, draw, slots: createSlots(2) };
    const all = [ofNumbers({ fresh: true }), ofNumbers(), ofThese([1]), ofThese([2])];
    const judgements = await Promise.all(
      all.map((requirement) => examine(requirement, context).advance(Number.POSITIVE_INFINITY)),
    );
    for (const judgement of judgements) assert.equal(short(judgement!.verdict), 'status 500');
    assert.equal(most, 2);
  });
  test('asked once and no more where asking changes the answer', async () => {
    const target: Target = (value, again) => says(value === 2 && again === 0 ? 500 : 200);
    const { courier, asked } = scripted(target);
    const { verdict, path } = await judge(ofThese([1, 2], { once: (value) => value === 2 }), courier);
    assert.equal(short(verdict), 'status 500');
    assert.equal(path, '1');
    assert.equal(asked(2).length, 1);
  });
});

describe('what brought no answer', () => {
  for (const code of ['timeout', 'network', 'rate-limited', 'budget', 'interrupted', 'no-fixture'] as const)
    test(`${code}: the requirement is inconclusive for that reason`, async () => {
      const target: Target = (value) => (value === 2 ? trouble(code) : says(200));
      const { verdict, cases, evidence, path } = await judge(ofThese([1, 2, 3]), scripted(target).courier);
      assert.deepEqual(verdict, { kind: 'unjudged', reason: code, words: `no: ${code}` });
      assert.equal(cases, 2, 'the others were judged');
      assert.equal(valueOf(evidence!.request), 2);
      assert.equal(path, '1');
    });

  const hostile: Partial<PropertySpec<number>> = {
    onTrouble: ({ words }) => failed('connection', 'an answer', words),
  };
  for (const [code, expected] of [
    ['timeout', 'connection'],
    ['network', 'connection'],
    ['rate-limited', 'rate-limited'],
    ['budget', 'budget'],
    ['interrupted', 'interrupted'],
  ] as const)
    test(`${code}, where an answer is part of what must hold: ${expected}`, async () => {
      const target: Target = (value) => (value === 2 ? trouble(code) : says(200));
      const { verdict, evidence } = await judge(ofThese([1, 2], hostile), scripted(target).courier);
      assert.equal(short(verdict), expected);
      assert.equal(valueOf(evidence!.request), 2);
    });
  for (const code of ['timeout', 'network'] as const)
    test(`${code} of a target that answers nobody is no failure: ${code}`, async () => {
      const { courier, log } = scripted(() => trouble(code));
      const { verdict, evidence, path } = await judge(ofThese([1], hostile), courier);
      assert.equal(short(verdict), code);
      assert.match(verdict.kind === 'unjudged' ? verdict.words : '', /a plain lookup got no answer either/);
      assert.deepEqual([valueOf(evidence!.request), path], [1, '0']);
      assert.equal(log.length, 3, 'the input, the input again, the plain lookup');
    });
  test('a dropped connection is confirmed as any failure is', async () => {
    const target: Target = (_, again) => (again === 0 ? trouble('network') : says(200));
    const { verdict } = await judge(ofThese([1], hostile), scripted(target).courier);
    assert.equal(short(verdict), 'flaky');
  });
});

describe('what another requirement speaks of', () => {
  const spec: Partial<PropertySpec<number>> = {
    holds: (answers, value, all) =>
      answers[0]!.status === 404 ? depends('valid/other') : is200(answers, value, all),
  };
  const missing =
    (...values: readonly number[]): Target =>
    (value) =>
      says(values.includes(value) ? 404 : 200);
  test('takes nothing from the rest', async () => {
    const judgement = await judge(ofThese([1, 2, 3], spec), scripted(missing(1, 3)).courier);
    assert.deepEqual(judgement, { verdict: held, cases: 1 });
  });
  test('is why nothing could be judged, where it is all there is', async () => {
    const { verdict, cases } = await judge(ofThese([1, 2], spec), scripted(missing(1, 2)).courier);
    assert.deepEqual([verdict, cases], [depends('valid/other'), 0]);
  });
  test('does not hide what was in trouble', async () => {
    const target: Target = (value) => (value === 2 ? trouble('timeout') : says(value === 1 ? 404 : 200));
    const { verdict } = await judge(ofThese([1, 2, 3], spec), scripted(target).courier);
    assert.equal(short(verdict), 'timeout');
  });
  test('does not hide a failure', async () => {
    const target: Target = (value) => says(value === 1 ? 404 : 500);
    const { verdict } = await judge(ofThese([1, 2], spec), scripted(target).courier);
    assert.equal(short(verdict), 'status 500');
  });
  test('what is excluded is no failure and no pass', async () => {
    const excluded: Verdict = { kind: 'excluded', reason: 'no-state-hook', words: '' };
    const { verdict, cases } = await judge(ofThese([1], { holds: () => excluded }), scripted(good).courier);
    assert.deepEqual([verdict, cases], [excluded, 0]);
  });
});

describe('a key that is refused everywhere', () => {
  const refused: Target = () => says(401);
  for (const [name, keyWorks, provesKey, status, expected] of [
    ['is no failure of what is looked up', false, false, 401, 'key-refused'],
    ['is one of what speaks of the key', false, true, 401, 'status 401'],
    ['that works otherwise', true, false, 401, 'status 401'],
    ['that was never used', undefined, false, 401, 'status 401'],
    ['but another answer here', false, false, 403, 'status 403'],
  ] as const)
    test(`${name}: ${expected}`, async () => {
      const target: Target = status === 401 ? refused : () => says(status);
      const { courier } = scripted(target, { keyWorks });
      assert.equal(short((await judge(ofThese([1], { provesKey }), courier)).verdict), expected);
    });
  test('does not excuse the answer to a request without that key', async () => {
    const { courier } = scripted(refused, { keyWorks: false });
    const requirement = ofThese([1], { ask: (n) => [{ ...ask(n), credential: { as: 'none' } }] });
    assert.equal(short((await judge(requirement, courier)).verdict), 'status 401');
  });
});

describe('rounds', () => {
  const numbers = Array.from({ length: 100 }, (_, nth) => nth);
  const outOfTime: Target = (value) => (value >= 50 ? trouble('budget') : says(200));
  const examined = (requirement: ReturnType<typeof ofNumbers>, target: Target, pace = 0) => {
    const script = scripted(target, { pace });
    const context = { known, courier: script.courier, draw, slots: createSlots(8) };
    return { ...script, ...examine(requirement, context) };
  };

  test('each goes as far as it is told, the first from one end of the list to the other', async () => {
    const { advance, tried, judgement, log, planned } = examined(ofThese(numbers), good);
    for (const inputs of [1, 4, 16, 64]) {
      assert.equal(await advance(inputs), undefined);
      assert.equal(tried(), inputs);
      assert.deepEqual(judgement(), { verdict: held, cases: inputs, planned });
    }
    const quarters = [0, 25, 50, 75].map(
      (from) => log.slice(0, 16).filter(({ value }) => value >= from && value < from + 25).length,
    );
    assert.ok(
      quarters.every((count) => count >= 3),
      quarters.join(),
    );
    assert.deepEqual(await advance(1000), { verdict: held, cases: 100 }, 'planned is said of a cut only');
    assert.equal(log.length, 100, 'nothing is sent twice');
  });
  test('what was not sent for want of time is no gap before the time is up, and one after', async () => {
    const early = examined(ofThese(numbers), outOfTime);
    assert.equal(await early.advance(1000, 5), undefined);
    const { verdict, cases, planned } = early.judgement();
    assert.deepEqual([verdict, planned], [held, 100]);
    assert.ok(cases > 0 && cases <= 50);
    const late = examined(ofThese(numbers), outOfTime);
    assert.equal(short((await late.advance(1000))!.verdict), 'budget');
  });
  test('what was under way when time ran out is judged all the same', async () => {
    const target: Target = (value) => (value === 0 ? trouble('budget') : says(500));
    // The first to be answered is the one that was too late.
    const { advance } = examined(ofThese([0, 1, 2]), target, 1);
    assert.equal(short((await advance(3, 5))!.verdict), 'status 500');
  });
  test('nothing tried is no pass', async () => {
    const { advance, judgement } = examined(ofThese(numbers), () => trouble('budget'));
    assert.equal(await advance(4, 5), undefined);
    assert.deepEqual([short(judgement().verdict), judgement().cases], ['budget', 0]);
  });
  test('what failed is confirmed in its round, and its path is that of the whole draw', async () => {
    const requirement = ofThese(numbers);
    const { advance, asked, tried } = examined(requirement, (value) => says(value === 64 ? 500 : 200));
    assert.equal(await advance(1), undefined);
    const judgement = (await advance(4))!;
    assert.equal(short(judgement.verdict), 'status 500');
    assert.equal(judgement.planned, undefined);
    assert.ok(tried() <= 4);
    assert.ok(asked(64).length >= 2);
    assert.deepEqual(requirement.drawAt(known, draw, judgement.path!).requests, [ask(64)]);
  });
});
