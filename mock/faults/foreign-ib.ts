import type { Endpoint } from '../../schemas/endpoints.ts';
import {
  answerWith,
  editBody,
  editPayload,
  editResponse,
  noContent,
  onlyIf,
  setFields,
  setHeader,
  setJson,
  type Difference,
  type Edit,
} from './edits.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { valuesOf } from '../world.ts';
import { answers, define, both, failing, firstPartner, perEndpoint, idsIn } from './define.ts';
import type { Faults } from './define.ts';

const users = (id: string, what: string, ...kinds: readonly ('foreign' | 'unknown')[]) =>
  answers(id, what, { endpoint: 'user-status', kinds });
const foreignUser = users('foreign-user', 'A user of another IB', 'foreign');
const unknownUser = users('unknown-user', 'An unknown user', 'unknown');
const stranger = users('stranger', 'A user who is not under the IB', 'foreign', 'unknown');
const deposits = (kind: 'foreign' | 'unknown', what: string) =>
  answers(`${kind}-deposit`, what, { endpoint: 'deposit-check', kinds: [kind] });
const foreignDeposit = deposits('foreign', "A deposit of another IB's user");
const unknownDeposit = deposits('unknown', 'An unknown deposit');

const isUpperCaseToFirst = ({ world, call }: Exchange) =>
  call?.caller?.partner === firstPartner(world) && call?.value !== call?.value?.toLowerCase();
const isNearMiss = ({ world, call }: Exchange) =>
  [world.users.base, world.deposits.base].some((ids) =>
    [...ids.keys()].some((id) => id.slice(0, -1) === call?.value?.toLowerCase().slice(0, -1)),
  );
const isUserId = ({ world, call }: Exchange) => world.users.base.has(call?.value?.toLowerCase() ?? '');
const ofVersion = (version: string, edit: Edit) => onlyIf(({ call }) => call?.value?.[14] === version, edit);

const userRows = (...names: readonly string[]) => idsIn('foreign-ib', ['user-status'], ...names);
const depositRows = (...names: readonly string[]) => idsIn('foreign-ib', ['deposit-check'], ...names);
const indistinguishable = idsIn('foreign-ib', both, 'indistinguishable');

const html = editBody(() => '<html><body><h1>Not found</h1></body></html>');
const shownUser = { is_under_ib: true, date_joined: '2024-01-01T00:00:00Z' };
const shownDeposit = { status: 'EXECUTED', amountInUsd: 1, executedAt: 1_700_000_000_000 };

const wrongAnswers: Faults = {
  ...define(foreignUser, userRows('other-ib'), {
    'with-404: gets 404': answerWith(404),
    'with-403: gets 403 and an error': answerWith(403, { error: 'Forbidden' }),
    'in-upper-case-is-member: is shown to the first partner if its id has an upper-case letter': onlyIf(
      isUpperCaseToFirst,
      setFields(shownUser),
    ),
    'with-date: gets the join date': editPayload((payload, { finding }) => ({
      ...payload,
      date_joined: finding.kind === 'foreign' && 'user' in finding && finding.user.date_joined,
    })),
  }),
  ...define(unknownUser, userRows('unknown'), {
    'with-404: gets 404 and an error': answerWith(404, { error: 'User not found' }),
    'is-member: gets is_under_ib true': setFields({ is_under_ib: true }),
    'in-last-digit-is-member: is a member, if only the last digit differs from an id of the server': onlyIf(
      isNearMiss,
      setFields(shownUser),
    ),
  }),
  ...define(stranger, userRows('other-ib', 'unknown'), {
    'with-204: gets 204 and no body': noContent,
    'as-text: gets the text "false" in is_under_ib': setFields({ is_under_ib: 'false' }),
    'with-empty-date: gets an empty text in date_joined': setFields({ date_joined: '' }),
  }),
  ...define(stranger, userRows('shape'), {
    'without-date: gets no date_joined': setJson({ is_under_ib: false }),
    'with-third-field: gets a third field': setFields({ reason: 'not under this IB' }),
  }),
  ...define(foreignUser, userRows('shape'), {
    'with-third-field: gets a third field': setFields({ reason: 'not under this IB' }),
  }),
  ...define(foreignDeposit, depositRows('other-ib'), {
    'with-403: gets 403': answerWith(403),
    'in-upper-case-visible: is shown to the first partner if its id has an upper-case letter': onlyIf(
      isUpperCaseToFirst,
      answerWith(200, shownDeposit),
    ),
    'has-own-message: gets another message': setJson({ error: 'Deposit belongs to another IB' }),
  }),
  ...define(unknownDeposit, depositRows('unknown'), {
    'with-200: gets 200': answerWith(200),
    'with-204: gets 204 and no body': noContent,
    'in-last-digit-visible: is visible, if only the last digit differs from an id of the server': onlyIf(
      isNearMiss,
      answerWith(200, shownDeposit),
    ),
    'with-user-id-visible: is visible, if its id is that of a user': onlyIf(
      isUserId,
      answerWith(200, shownDeposit),
    ),
    'of-version-1-with-200: gets 200 and the status NONE, if its id is of version 1': ofVersion(
      '1',
      answerWith(200, { status: 'NONE' }),
    ),
    'of-version-6-with-html: gets HTML, if its id is of version 6': ofVersion('6', html),
    'of-version-7-has-own-message: gets another message, if its id is of version 7': ofVersion(
      '7',
      setJson({ error: 'No such deposit' }),
    ),
  }),
};

const distinguishable: Faults = {
  ...failing(userRows('indistinguishable'), {
    'foreign-user-told-by-header: A header field is only on answers about unknown users': setHeader(
      'X-Cache',
      'MISS',
    )({ endpoint: 'user-status', kinds: ['unknown'] }),
  }),
  ...define(foreignUser, userRows('indistinguishable'), {
    'told-by-space: gets a body that ends in a newline': editBody((body) => `${body}\n`),
    'told-by-field-order: gets the fields in another order': editPayload(({ date_joined, is_under_ib }) => ({
      date_joined,
      is_under_ib,
    })),
  }),
  ...define(foreignDeposit, depositRows('indistinguishable'), {
    'told-by-header: gets another Cache-Control': setHeader('Cache-Control', 'private'),
    'told-by-space: gets a body with one more space': editBody((body) => body.replace(':', ': ')),
  }),
  ...define(answers('foreign', 'Data of another IB', { kinds: ['foreign'] }), indistinguishable, {
    'told-by-charset: gets a charset, unlike other answers': setHeader(
      'Content-Type',
      'application/json; charset=utf-8',
    ),
  }),
};

/** Lets the caller see the data of some other partners. */
const owning = (endpoint: Endpoint) => ({
  change:
    (isOwned: (partner: string | null) => boolean): Difference =>
    ({ owns }) => ({
      owns: (call, partner) => owns(call, partner) || (call.endpoint === endpoint && isOwned(partner)),
    }),
});

const asFirstPartner =
  (endpoint: Endpoint): Difference =>
  ({ findKey, accepts }) => ({
    findKey: (world, credential, call) => {
      const key = findKey(world, credential, call);
      if (call.endpoint !== endpoint || key === undefined || !accepts(key, call)) return key;
      return valuesOf(world.keys).find((one) => accepts(one, call));
    },
  });

/** Caches answers about users regardless of the key. */
const sharedCache: Difference = (from) => {
  const cache = new Map<string, HttpResponse>();
  return editResponse((response, { call }) => {
    const id = call?.value?.toLowerCase() ?? '';
    if (!cache.has(id) && String(response.body).includes('true')) cache.set(id, response);
    return cache.get(id) ?? response;
  })({ endpoint: 'user-status', status: 200 })(from);
};

const wrongScope: Faults = {
  ...perEndpoint((endpoint) => {
    const rows = (...names: readonly string[]) => idsIn('foreign-ib', [endpoint], ...names);
    const [thing, shown] = endpoint === 'user-status' ? ['user', 'is-member'] : ['deposit', 'visible'];
    return {
      ...define(owning(endpoint), rows('other-ib', 'follows-key'), {
        [`foreign-${thing}-${shown}: A ${thing} of another IB is shown`]: (partner) => partner !== null,
      }),
      ...define(owning(endpoint), rows('other-ib'), {
        [`${thing}-of-no-ib-${shown}: A ${thing} of no IB is shown`]: (partner) => partner === null,
      }),
      ...define({ what: endpoint, change: asFirstPartner }, rows('follows-key'), {
        [`first-partner-for-${thing}s: treats every key as one of the first partner`]: endpoint,
      }),
    };
  }),
  ...failing(userRows('other-ib', 'follows-key'), {
    'user-cache-ignores-key: user-status uses one cache for all keys': sharedCache,
  }),
};

/** Wrong answers about unknown data and data of other IBs (foreign-ib). */
export const foreignIbFaults: Faults = { ...wrongAnswers, ...distinguishable, ...wrongScope };
