import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { knowledge, type Known, type KnownKey } from '../suites/known.ts';

/** A state of the interface, and a request that shows it. */
interface MagicValue {
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly id: string | undefined;
  readonly key: KnownKey | undefined;
}

const unknownId = '00000000-0000-4000-8000-000000000000';

function magicValues(known: Known, apiKeys: NonNullable<Fixture['apiKeys']>): readonly MagicValue[] {
  const { members, foreigners, executed, pending, becoming, failed, foreignDeposits } = known;
  const afterPolls = becoming.find(({ becomes }) => becomes.afterPolls !== undefined);
  const afterSeconds = becoming.find(({ becomes }) => becomes.afterSeconds !== undefined);
  const id = members[0]?.user_id;
  const caller = known.callerKeys[0];
  const limited = apiKeys.findIndex(({ limits }) => limits?.['user-status']?.failedLookups === 0);
  const expiring = apiKeys.findIndex(({ expiresAfterSeconds }) => expiresAfterSeconds !== undefined);
  return [
    { shows: '200, a member', endpoint: 'user-status', id, key: caller },
    {
      shows: "200, another IB's user",
      endpoint: 'user-status',
      id: foreigners.find(({ partner }) => partner !== null)?.user_id,
      key: caller,
    },
    {
      shows: '200, a user of no IB',
      endpoint: 'user-status',
      id: foreigners.find(({ partner }) => partner === null)?.user_id,
      key: caller,
    },
    { shows: '200, an unknown user', endpoint: 'user-status', id: unknownId, key: caller },
    { shows: '400, not a UUID', endpoint: 'user-status', id: 'not-a-uuid', key: caller },
    { shows: '401, revoked key', endpoint: 'user-status', id, key: known.revokedKeys[0] },
    { shows: '401, expired key', endpoint: 'user-status', id, key: known.expiredKeys[0] },
    { shows: '401, non-Partner key', endpoint: 'user-status', id, key: known.nonPartnerKeys[0] },
    {
      shows: `200, then 401 after ${apiKeys[expiring]?.expiresAfterSeconds} s`,
      endpoint: 'user-status',
      id,
      key: known.everyKey[expiring],
    },
    { shows: '429, always limited', endpoint: 'user-status', id, key: known.everyKey[limited] },
    { shows: '200, EXECUTED', endpoint: 'deposit-check', id: executed[0]?.reference_id, key: caller },
    { shows: '404, pending', endpoint: 'deposit-check', id: pending[0]?.reference_id, key: caller },
    { shows: '404, failed', endpoint: 'deposit-check', id: failed[0]?.reference_id, key: caller },
    {
      shows: `404, then 200 after ${afterPolls?.becomes.afterPolls} polls`,
      endpoint: 'deposit-check',
      id: afterPolls?.reference_id,
      key: caller,
    },
    {
      shows: `404, then 200 after ${afterSeconds?.becomes.afterSeconds} s`,
      endpoint: 'deposit-check',
      id: afterSeconds?.reference_id,
      key: caller,
    },
    {
      shows: "404, another IB's deposit",
      endpoint: 'deposit-check',
      id: foreignDeposits[0]?.reference_id,
      key: caller,
    },
    { shows: '404, an unknown deposit', endpoint: 'deposit-check', id: unknownId, key: caller },
  ];
}

/**
 * A curl line for each state that the fixture can show.
 *
 * @param isBuiltIn keys of the built-in fixture are no secrets; any other key stands as $IB_API_KEY
 */
export function magicLines(fixture: Fixture, url: string, isBuiltIn: boolean): string {
  const known = knowledge(fixture);
  const [caller] = known.callerKeys;
  if (caller === undefined)
    return 'The fixture has no active key of a partner: every request is answered 401.\n';
  const lines = magicValues(known, fixture.apiKeys ?? []).flatMap(({ shows, endpoint, id, key }) => {
    if (id === undefined || key === undefined) return [];
    const { path, parameter } = endpoints[endpoint];
    const shownKey = isBuiltIn ? key.key : '$IB_API_KEY';
    const comment = isBuiltIn || key === caller ? '' : `  # with ${key.name}`;
    return [
      `  ${shows.padEnd(28)} curl -i -H "Authorization: Bearer ${shownKey}" "${url}${path}?${parameter}=${id}"${comment}`,
    ];
  });
  return `${lines.join('\n')}\n`;
}
