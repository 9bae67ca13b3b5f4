import type { Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editHeaders, editPayload, editResponse, type Change, type When } from './change.ts';
import type { HttpResponse } from '../exchange.ts';
import { valuesOf } from '../world.ts';
import { both, failing, failingBy, firstPartner, rowsOf, setFields, setJson, type Faults } from './table.ts';

const foreignUsers = { endpoint: 'user-status', kinds: ['foreign'] } as const;
const unknownUsers = { endpoint: 'user-status', kinds: ['unknown'] } as const;
const strangers = { endpoint: 'user-status', kinds: ['foreign', 'unknown'] } as const;
const foreignDeposits = { endpoint: 'deposit-check', kinds: ['foreign'] } as const;
const unknownDeposits = { endpoint: 'deposit-check', kinds: ['unknown'] } as const;
const toFirstInUpperCase = (when: When): When => ({
  ...when,
  where: ({ world, call }) =>
    call?.caller?.partner === firstPartner(world) && call?.value !== call?.value?.toLowerCase(),
});
const unknownOfVersion = (version: string): When => ({
  ...unknownDeposits,
  where: ({ call }) => call?.value?.[14] === version,
});

const userRows = (...names: readonly string[]) => rowsOf('foreign-ib', ['user-status'], ...names);
const depositRows = (...names: readonly string[]) => rowsOf('foreign-ib', ['deposit-check'], ...names);

const wrongAnswers: Faults = {
  ...failing(userRows('other-ib'), {
    'foreign-user-with-404': ['Users of other IBs are answered with 404.', answerWith(foreignUsers, 404)],
    'foreign-user-with-403': [
      'Users of other IBs are answered with 403 and an error.',
      answerWith(foreignUsers, 403, { error: 'Forbidden' }),
    ],
    'foreign-user-in-upper-case-is-member': [
      'Users of other IBs are shown to the first partner, if their id has a letter in upper case.',
      setFields(toFirstInUpperCase(foreignUsers), { is_under_ib: true, date_joined: '2024-01-01T00:00:00Z' }),
    ],
    'foreign-user-with-date': [
      'The join date of users of other IBs is shown.',
      editPayload(foreignUsers, (payload, { finding }) => ({
        ...payload,
        date_joined: finding.kind === 'foreign' && 'user' in finding && finding.user.date_joined,
      })),
    ],
  }),
  ...failing(userRows('unknown'), {
    'unknown-user-with-404': [
      'Unknown users are answered with 404 and an error.',
      answerWith(unknownUsers, 404, { error: 'User not found' }),
    ],
    'unknown-user-is-member': [
      'Unknown users are said to be under the IB.',
      setFields(unknownUsers, { is_under_ib: true }),
    ],
  }),
  ...failing(userRows('other-ib', 'unknown'), {
    'stranger-with-204': [
      'Users who are not under the IB are answered with 204 and no body.',
      editResponse(strangers, () => ({ status: 204, body: '' })),
    ],
    'stranger-as-text': [
      'is_under_ib is the text "false" for users who are not under the IB.',
      setFields(strangers, { is_under_ib: 'false' }),
    ],
    'stranger-with-empty-date': [
      'date_joined is the empty text for users who are not under the IB.',
      setFields(strangers, { date_joined: '' }),
    ],
  }),
  ...failing(userRows('shape'), {
    'stranger-without-date': [
      'date_joined is left out for users who are not under the IB.',
      setJson(strangers, { is_under_ib: false }),
    ],
    'stranger-with-third-field': [
      'Users who are not under the IB have a third field.',
      setFields(strangers, { reason: 'not under this IB' }),
    ],
  }),
  ...failing(userRows('shape'), {
    'foreign-user-with-third-field': [
      'Users of other IBs have a third field.',
      setFields(foreignUsers, { reason: 'not under this IB' }),
    ],
  }),
  ...failing(depositRows('other-ib'), {
    'foreign-deposit-with-403': [
      "Deposits of other IBs' users are answered with 403.",
      answerWith(foreignDeposits, 403),
    ],
    'foreign-deposit-in-upper-case-visible': [
      "Deposits of other IBs' users are shown to the first partner, if their id has a letter in upper case.",
      answerWith(toFirstInUpperCase(foreignDeposits), 200, {
        status: 'EXECUTED',
        amountInUsd: 1,
        executedAt: 1_700_000_000_000,
      }),
    ],
    'foreign-deposit-has-own-message': [
      "Deposits of other IBs' users have a message of their own.",
      setJson(foreignDeposits, { error: 'Deposit belongs to another IB' }),
    ],
  }),
  ...failing(depositRows('unknown'), {
    'unknown-deposit-with-200': ['Unknown deposits are answered with 200.', answerWith(unknownDeposits, 200)],
    'unknown-deposit-with-204': [
      'Unknown deposits are answered with 204 and no body.',
      editResponse(unknownDeposits, () => ({ status: 204, body: '' })),
    ],
    'unknown-deposit-of-version-1-with-200': [
      'Unknown deposits are answered with 200 and the status NONE, if their id is of version 1.',
      answerWith(unknownOfVersion('1'), 200, { status: 'NONE' }),
    ],
    'unknown-deposit-of-version-6-with-html': [
      'Unknown deposits are answered with HTML, if their id is of version 6.',
      editResponse(unknownOfVersion('6'), () => ({ body: '<html><body><h1>Not found</h1></body></html>' })),
    ],
    'unknown-deposit-of-version-7-has-own-message': [
      'Unknown deposits have a message of their own, if their id is of version 7.',
      setJson(unknownOfVersion('7'), { error: 'No such deposit' }),
    ],
  }),
};

const distinguishable: Faults = {
  ...failing(userRows('indistinguishable'), {
    'foreign-user-told-by-header': [
      'A header field is only on answers about unknown users.',
      editHeaders(unknownUsers, () => ({ 'X-Cache': 'MISS' })),
    ],
    'foreign-user-told-by-space': [
      'Answers about users of other IBs end in a newline.',
      editResponse(foreignUsers, ({ body }) => ({ body: `${body.toString()}\n` })),
    ],
    'foreign-user-told-by-field-order': [
      'Answers about users of other IBs have their fields in another order.',
      editPayload(foreignUsers, ({ date_joined, is_under_ib }) => ({ date_joined, is_under_ib })),
    ],
  }),
  ...failing(depositRows('indistinguishable'), {
    'foreign-deposit-told-by-header': [
      "A header field has another value on answers about other IBs' deposits.",
      editHeaders(foreignDeposits, () => ({ 'Cache-Control': 'private' })),
    ],
    'foreign-deposit-told-by-space': [
      "Answers about other IBs' deposits hold a space more.",
      editResponse(foreignDeposits, ({ body }) => ({ body: body.toString().replace(':', ': ') })),
    ],
  }),
  ...failing(rowsOf('foreign-ib', both, 'indistinguishable'), {
    'foreign-told-by-charset': [
      'Only answers about what belongs to other IBs name a charset.',
      editHeaders({ kinds: ['foreign'] }, () => ({ 'Content-Type': 'application/json; charset=utf-8' })),
    ],
  }),
};

type IsOwned = (partner: string | null) => boolean;

/** What belongs to some partners is the caller's as well. */
const ownsOn =
  (which: Endpoint) =>
  (isOwned: IsOwned): Change =>
  (behaviour) => ({
    ...behaviour,
    owns: (call, partner) => behaviour.owns(call, partner) || (call.endpoint === which && isOwned(partner)),
  });
const ofOtherIb: IsOwned = (partner) => partner !== null;
const ofNoIb: IsOwned = (partner) => partner === null;

/** Every accepted key counts as one of the first partner's. */
const firstPartnerOn =
  (which: Endpoint): Change =>
  (behaviour) => ({
    ...behaviour,
    findKey: (world, credential, call) => {
      const key = behaviour.findKey(world, credential, call);
      if (call.endpoint !== which || key === undefined || !behaviour.admits(key, call)) return key;
      return valuesOf(world.keys).find((one) => behaviour.admits(one, call));
    },
  });

/** The first answer about a user is the answer to every key. */
const sharedCache: Change = (behaviour) => {
  const cache = new Map<string, HttpResponse>();
  return editResponse({ endpoint: 'user-status', status: 200 }, (response, { call }) => {
    const id = call?.value?.toLowerCase() ?? '';
    if (!cache.has(id)) cache.set(id, response);
    return cache.get(id) ?? response;
  })(behaviour);
};

const wrongScope: Faults = {
  ...failingBy(userRows('other-ib', 'follows-key'), ownsOn('user-status'), {
    'foreign-user-is-member': ["Users of other IBs are shown as the caller's members.", ofOtherIb],
  }),
  ...failingBy(userRows('other-ib'), ownsOn('user-status'), {
    'user-of-no-ib-is-member': ["Users of no IB are shown as the caller's members.", ofNoIb],
  }),
  ...failingBy(depositRows('other-ib', 'follows-key'), ownsOn('deposit-check'), {
    'foreign-deposit-visible': ["Deposits of other IBs' users are shown.", ofOtherIb],
  }),
  ...failingBy(depositRows('other-ib'), ownsOn('deposit-check'), {
    'deposit-of-no-ib-visible': ['Deposits of users of no IB are shown.', ofNoIb],
  }),
  ...failingBy(userRows('follows-key'), firstPartnerOn, {
    'first-partner-for-users': [
      "user-status answers every key as one of the first partner's.",
      'user-status',
    ],
  }),
  ...failingBy(depositRows('follows-key'), firstPartnerOn, {
    'first-partner-for-deposits': [
      "deposit-check answers every key as one of the first partner's.",
      'deposit-check',
    ],
  }),
  ...failing(userRows('other-ib', 'follows-key'), {
    'user-cache-ignores-key': [
      'user-status repeats the first answer about a user to every other key.',
      sharedCache,
    ],
  }),
};

/** Wrong answers about what is unknown or belongs to other IBs (foreign-ib). */
export const foreignIbFaults: Faults = { ...wrongAnswers, ...distinguishable, ...wrongScope };
