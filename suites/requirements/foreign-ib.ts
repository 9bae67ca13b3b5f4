import { summary } from '../answer.ts';
import {
  all,
  any,
  inAnyNotation,
  isBecoming,
  isOtherKey,
  isOurs,
  isPlain,
  isReadable,
  mayBeAnotherId,
  on,
  sees,
} from '../rules/facts.ts';
import { hasExactly, isNoMember } from '../rules/expectations.ts';
import type { FixtureDeposit } from '../known.ts';
import { executed, member, notFound, notMember } from '../rules/named-answers.ts';
import { answers, requires, type Requirement } from '../rules/requirement.ts';
import { indistinguishable, type HiddenIds } from '../scenarios/indistinguishable.ts';
import { failed, pass } from '../rules/verdict.ts';

const isUser = on('user-status');
const isDeposit = on('deposit-check');

const others = ["another partner's", "third partner's"];

/** Ids that must be answered like unknown ones. */
const hiddenUsers: HiddenIds = {
  needs: [...others, 'no partner'].map((situation) => ['user-status', { situation }]),
  hidden: ({ foreigners }) => foreigners.map(({ user_id }) => user_id),
};
const hiddenDeposits: HiddenIds = {
  needs: others.flatMap((owner) =>
    ['EXECUTED', 'pending', 'failed'].map(
      (state) => ['deposit-check', { situation: `${owner} ${state}` }] as const,
    ),
  ),
  hidden: ({ foreignDeposits, userById }) => {
    // No situation has a deposit of a user of no IB, so that one is always compared.
    const isOfNone = ({ user_id }: FixtureDeposit) => userById.get(user_id.toLowerCase())?.partner === null;
    const ofNone = foreignDeposits.filter(isOfNone);
    return [...new Set([...ofNone, ...foreignDeposits])].map(({ reference_id }) => reference_id);
  },
};

export const foreignIb: readonly Requirement[] = [
  answers({
    id: 'foreign-ib/user-status/other-ib',
    clause: 'GET user-status, 200',
    title: 'A user of another IB, or of no IB, gets 200 with false and null',
    provedBy: ['foreign-ib/user-status/follows-key'],
    ...inAnyNotation(isUser, sees('foreign')),
    answer: notMember,
  }),
  answers({
    id: 'foreign-ib/user-status/unknown',
    clause: 'GET user-status, 200',
    title: 'An unknown user_id gets 200 with false and null',
    when: all(isUser, isPlain, sees('unknown')),
    also: all(isUser, isReadable, any(sees('unknown'), all(sees('own user'), mayBeAnotherId))),
    answer: notMember,
  }),
  requires({
    id: 'foreign-ib/user-status/shape',
    clause: 'IB membership result',
    title: 'The answer has exactly two fields, and date_joined is null',
    when: all(isUser, isReadable, any(sees('foreign', 'unknown'), mayBeAnotherId)),
    holds: (answer) => {
      if (!isNoMember(answer)) return undefined;
      const expected = '200 {"is_under_ib":false,"date_joined":null}, exactly these two fields';
      return hasExactly(answer, 'is_under_ib', 'date_joined')
        ? pass
        : failed('shape', expected, summary(answer));
    },
  }),
  indistinguishable({
    id: 'foreign-ib/user-status/indistinguishable',
    clause: 'Service: own IB only',
    title: "Another IB's user is answered exactly like an unknown one",
    endpoint: 'user-status',
    ...hiddenUsers,
    provedBy: ['foreign-ib/user-status/follows-key'],
  }),
  answers({
    id: 'foreign-ib/user-status/follows-key',
    clause: 'Service: own IB only',
    title: "With another partner's key, that partner's user is under the IB and ours is not",
    ...inAnyNotation(isUser, isOtherKey, any(sees('own user'), isOurs)),
    answer: (facts) => (facts.isOurs ? notMember : member),
    owns: 'leak',
  }),
  answers({
    id: 'foreign-ib/deposit-check/other-ib',
    clause: 'GET deposit-check, 404',
    title: "A deposit of another IB's user, in any state, gets 404 with the exact error body",
    provedBy: ['foreign-ib/deposit-check/follows-key'],
    ...inAnyNotation(isDeposit, sees('foreign')),
    answer: notFound,
  }),
  answers({
    id: 'foreign-ib/deposit-check/unknown',
    clause: 'GET deposit-check, 404',
    title: 'An unknown reference_id gets 404 with the exact error body',
    when: all(isDeposit, isPlain, sees('unknown')),
    also: all(isDeposit, isReadable, any(sees('unknown'), all(sees('EXECUTED'), mayBeAnotherId))),
    answer: notFound,
  }),
  indistinguishable({
    id: 'foreign-ib/deposit-check/indistinguishable',
    clause: 'Service: own IB only',
    title: "Another IB's deposit is answered exactly like an unknown one",
    endpoint: 'deposit-check',
    ...hiddenDeposits,
    provedBy: ['foreign-ib/deposit-check/follows-key'],
  }),
  answers({
    id: 'foreign-ib/deposit-check/follows-key',
    clause: 'Service: own IB only',
    title: "With another partner's key, that partner's deposit is found and ours is not",
    when: all(isDeposit, isPlain, isOtherKey, any(sees('EXECUTED'), isOurs)),
    also: all(isDeposit, isReadable, isOtherKey, any(sees('EXECUTED'), isBecoming, isOurs)),
    answer: (facts) => (facts.isOurs ? notFound : executed),
    owns: 'leak',
  }),
];
