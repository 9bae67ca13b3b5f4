import type { Fixture } from '../schemas/generated/types.ts';
import { knowledge } from './known.ts';

/** Two partners, a key in every state, a user and a deposit of every kind. */
export const sampleFixture: Fixture = {
  partners: [{ id: 'northwind' }, { id: 'contoso' }, { id: 'fabrikam' }],
  apiKeys: [
    { key: 'pk_old_R7q2ZmK9', partner: 'northwind', state: 'revoked' },
    { key: 'uk_jane_H3v8LpX1', partner: null, state: 'active' },
    { key: 'pk_live_aB3dE6gH9', partner: 'northwind', state: 'active' },
    { key: 'pk_cont_Yt5Wn0Qs', partner: 'contoso', state: 'active' },
    { key: 'pk_spare_zX8cV1bN', partner: 'northwind', state: 'active' },
    { key: 'pk_gone_Mn4Jk7Lo', partner: 'northwind', state: 'expired' },
  ],
  users: [
    {
      user_id: '1A000000-0000-4000-8000-00000000000A',
      partner: 'northwind',
      date_joined: '2024-02-29T23:59:59.999Z',
    },
    {
      user_id: '1b000000-0000-4000-8000-00000000000b',
      partner: 'northwind',
      date_joined: '2023-01-02T03:04:05Z',
    },
    {
      user_id: '2c000000-0000-4000-8000-00000000000c',
      partner: 'contoso',
      date_joined: '2022-11-05T00:00:00.5Z',
    },
    {
      user_id: '3d000000-0000-4000-8000-00000000000d',
      partner: null,
      date_joined: '2021-06-30T06:30:00Z',
    },
  ],
  deposits: [
    {
      reference_id: '4a000000-0000-4000-8000-000000000001',
      user_id: '1a000000-0000-4000-8000-00000000000a',
      state: 'EXECUTED',
      amountInUsd: 250.5,
      executedAt: 1705314600000,
    },
    {
      reference_id: '4b000000-0000-4000-8000-000000000002',
      user_id: '1b000000-0000-4000-8000-00000000000b',
      state: 'pending',
    },
    {
      reference_id: '4c000000-0000-4000-8000-000000000003',
      user_id: '1b000000-0000-4000-8000-00000000000b',
      state: 'failed',
    },
    {
      reference_id: '4d000000-0000-4000-8000-000000000004',
      user_id: '1b000000-0000-4000-8000-00000000000b',
      state: 'pending',
      becomes: { state: 'EXECUTED', amountInUsd: 10, afterPolls: 3 },
    },
    {
      reference_id: '5a000000-0000-4000-8000-000000000005',
      user_id: '2c000000-0000-4000-8000-00000000000c',
      state: 'EXECUTED',
      amountInUsd: 1,
      executedAt: 1706745600000,
    },
    {
      reference_id: '5b000000-0000-4000-8000-000000000006',
      user_id: '3d000000-0000-4000-8000-00000000000d',
      state: 'pending',
    },
    {
      reference_id: '5c000000-0000-4000-8000-000000000007',
      user_id: '2c000000-0000-4000-8000-00000000000c',
      state: 'pending',
      becomes: { state: 'EXECUTED', amountInUsd: 10, afterSeconds: 3 },
    },
  ],
  limits: { 'user-status': { failedLookups: 60, windowSeconds: 3 } },
};

/** The sample fixture as seen from northwind. */
export const sampleKnown = knowledge(sampleFixture);
