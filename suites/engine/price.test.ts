import assert from 'node:assert/strict';
import { test } from 'node:test';
import { depositCheck, lookup, userStatus, type Changes } from '../request.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { priceOf } from './price.ts';

const member = known.members[0]!.user_id;
const foreigner = known.foreigners[0]!.user_id;
const nobodys = known.foreigners.find(({ partner }) => partner === null)!.user_id;
const [key] = known.callerKeys;
const [other] = known.otherKeys;
const [revoked] = known.revokedKeys;
const [personal] = known.nonPartnerKeys;
const by = (known_: typeof key): Changes => ({ credential: { as: 'key', key: known_! } });
const free = known.executed[0]!.reference_id;

const prices: Readonly<Record<string, readonly [ReturnType<typeof lookup>, 0 | 1]>> = {
  'a member, by whichever key of the caller': [userStatus(member), 0],
  'a member, by a certain key': [userStatus(member, by(key)), 0],
  'a member in capitals': [userStatus(member.toUpperCase()), 0],
  'a member, by a key of another partner': [userStatus(member, by(other)), 1],
  'a member, by a revoked key of the partner': [userStatus(member, by(revoked)), 0],
  'a member, by a personal key': [userStatus(member, by(personal)), 1],
  'a user of no IB, by a personal key': [userStatus(nobodys, by(personal)), 1],
  'a user of another IB': [userStatus(foreigner), 1],
  "a user of the key's own IB, foreign to the caller": [userStatus(foreigner, by(other)), 0],
  'a stranger': [userStatus('0badc0de-0000-4000-8000-000000000000'), 1],
  'no id': [lookup('user-status', undefined), 1],
  'an invalid id': [userStatus(`${member}0`), 1],
  'a member, by a parameter in capitals': [lookup('user-status', `USER_ID=${member}`), 1],
  'a member, by another parameter': [lookup('user-status', `userid_=${member}`), 1],
  'a member, by a second parameter': [lookup('user-status', `x=1&user_id=${member}`), 1],
  'a member, percent-encoded': [lookup('user-status', `user_id=%31${member.slice(1)}`), 1],
  'a member and more': [lookup('user-status', `user_id=${member}&user_id=x`), 1],
  'a deposit that is found': [depositCheck(free), 1],
  'a deposit that is not': [depositCheck(member), 1],
  'without a key': [userStatus(foreigner, { credential: { as: 'none' } }), 0],
  'with something else in its place': [
    depositCheck(free, { credential: { as: 'header', value: 'Basic x', shell: 'Basic x' } }),
    0,
  ],
};

for (const [name, [request, price]] of Object.entries(prices))
  test(`${name}: ${price}`, () => assert.equal(priceOf(request, known), price));
