import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongOf, type Answered } from './judge-round.ts';
import { rounds, type Round } from './rounds.ts';

const [plain, , limits, errors, cutOff] = rounds as readonly [Round, Round, Round, Round, Round];
const asked = { method: 'GET', path: 'deposit-check', id: 'a', isId: true, key: 'k', world: '' } as const;
const notFound = { status: 404, body: '{"error":"Deposit not found"}', counts: true };
const tooMany = { status: 429, body: '{"error":"TOO_MANY_REQUESTS"}' };
const refused = { status: 401, body: '{"error":"UNAUTHORIZED"}', counts: false };
const pending = { ...notFound, becomes: { id: 'a', afterPolls: 2, start: '{"x":' } };

const answer = (heard: Answered['heard'], expected: Answered['expected'] = notFound): Answered => ({
  asked,
  expected,
  heard,
});
const times = (count: number, value: Answered) => Array.from({ length: count }, () => value);
const of = (round: Round, ...answers: readonly Answered[]) => wrongOf(round, answers).length;

test('an answer is right as the oracle has it, byte for byte', () => {
  assert.equal(of(plain, answer(notFound)), 0);
  assert.equal(of(plain, answer({ ...notFound, body: notFound.body.toLowerCase() })), 1);
  assert.equal(of(plain, answer({ ...notFound, status: 400 })), 1);
  for (const heard of ['lost', tooMany, { status: 503, body: '{"error":"x"}' }] as const)
    assert.equal(of(plain, answer(heard)), 1);
});

test('something else is right only in a round that brings it about, for who is let in', () => {
  const unavailable = { status: 503, body: '{"error":"Service Unavailable"}' };
  assert.equal(of(errors, answer(unavailable)), 0);
  assert.equal(of(errors, answer({ ...unavailable, body: '{}' })), 1);
  assert.equal(of(errors, answer(unavailable, refused)), 1);
  assert.equal(of(cutOff, answer('lost')), 0);
  assert.equal(of(cutOff, answer('lost', refused)), 1);
});

test('of what a limiter counts exactly so many pass', () => {
  const passed = answer(notFound);
  const stopped = answer(tooMany);
  assert.equal(of(limits, ...times(40, passed), ...times(9, stopped)), 0);
  assert.equal(of(limits, ...times(39, passed)), 0);
  for (const most of [39, 41]) assert.equal(of(limits, ...times(most, passed), ...times(9, stopped)), 1);
  assert.equal(of(limits, ...times(40, passed), answer({ ...tooMany, body: '{"error":"no"}' })), 1);
});

test('exactly so many polls find a deposit pending, and one execution is seen', () => {
  const poll = answer(notFound, pending);
  const executed = (body: string) => answer({ status: 200, body }, pending);
  assert.equal(of(plain, poll, poll, executed('{"x":1}'), executed('{"x":1}')), 0);
  assert.equal(of(plain, poll), 0);
  assert.equal(of(plain, poll, executed('{"x":1}')), 1);
  assert.equal(of(plain, poll, poll, poll), 1);
  assert.equal(of(plain, poll, poll, executed('{"x":1}'), executed('{"x":2}')), 1);
  assert.equal(of(plain, poll, poll, executed('{"y":1}')), 1);
});
