import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { deliver, nothingUnderway } from './deliver.ts';

test('nobody is followed for a client that is gone already', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  deliver(
    response,
    { status: 200, headers: {}, follow: () => assert.fail('it is followed') },
    nothingUnderway(),
    () => assert.fail('it is reset'),
  );
});

test('nothing is delayed for a client that is gone already', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  const underway = nothingUnderway();
  deliver(response, { status: 200, headers: {}, body: '', delayMs: 600_000 }, underway, () =>
    assert.fail('it is reset'),
  );
  assert.equal(underway.delayed.size, 0);
});
