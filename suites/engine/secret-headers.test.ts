import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsInHeaders } from './secret-headers.ts';

/** Header fields, and the parts of their values that must not be shown. */
const fields: readonly (readonly [field: string, value: string, secret: readonly string[]])[] = [
  ['cookie', 'session=4f9a0c11; theme=dark', ['4f9a0c11']],
  ['cookie', 'a=b; c=d', ['b', 'd']],
  ['proxy-authorization', 'Basic dXNlcjpwYXNz', ['dXNlcjpwYXNz']],
  ['x-api-key', 'short', ['short']],
  ['x-gateway', 'k3Jx81mQ0pLk2vB7', ['k3Jx81mQ0pLk2vB7']],
  ['x-tenant', 'staging', []],
  ['x-tenant', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', []],
  ['x-request-id', 'k3Jx81mQ0pLk2vB7', []],
  ['user-agent', 'ib-conformance/0.1.0 (a test)', []],
  ['accept', 'application/json', []],
  ['content-type', 'application/json; charset=utf-8', []],
];

for (const [field, value, secret] of fields)
  test(`${field}: ${value}`, () => {
    assert.deepEqual(
      secretsInHeaders({ [field]: value }),
      secret.map((part) => ({ value: part, name: `<header ${field}>` })),
    );
  });
