import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugOf } from './slug.ts';

test('anchors are those of GitHub', () => {
  assert.equal(slugOf('Outcomes and exit codes'), 'outcomes-and-exit-codes');
  assert.equal(slugOf('valid/user-status/date-joined'), 'validuser-statusdate-joined');
  assert.equal(slugOf('1. Say what is true of your server'), '1-say-what-is-true-of-your-server');
  assert.equal(slugOf('[valid](requirements/valid.md)'), 'valid');
});
