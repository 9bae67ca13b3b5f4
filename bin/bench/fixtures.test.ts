import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { lookupsIn } from './fixtures.ts';

const lines = `{
  "partners": [
    {"id":"p"},
    {"id":"q"}
  ],
  "apiKeys": [
    {"key":"k","partner":"p","state":"active"},
    {"key":"l","partner":"q","state":"active"}
  ],
  "users": [
    {"user_id":"1","partner":"p","date_joined":"…"},
    {"user_id":"2","partner":"q","date_joined":"…"},
    {"user_id":"3","partner":"p","date_joined":"…"},
    {"user_id":"4","partner":"p","date_joined":"…"}
  ],
  "deposits": [
    {"reference_id":"a","user_id":"1","state":"EXECUTED","amountInUsd":1,"executedAt":1},
    {"reference_id":"b","user_id":"1","state":"pending"},
    {"reference_id":"c","user_id":"2","state":"EXECUTED","amountInUsd":1,"executedAt":1},
    {"reference_id":"d","user_id":"3","state":"EXECUTED","amountInUsd":1,"executedAt":1}
  ]
}`.split('\n');

test('every so manieth member is asked for, and its deposits that are EXECUTED', async () => {
  assert.deepEqual(await lookupsIn(Readable.from(lines), 2), {
    key: 'k',
    targets: [
      '/api/ib/user-status?user_id=1',
      '/api/ib/user-status?user_id=4',
      '/api/ib/deposit-check?reference_id=a',
    ],
  });
});
