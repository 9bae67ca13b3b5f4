import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWrk } from './wrk.ts';

const output = `Running 3s test @ http://127.0.0.1:4010/x
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   613.37us  339.27us  12.24ms   96.75%
    Req/Sec    53.27k     4.06k   58.74k    87.10%
  Latency Distribution
     50%  552.00us
     75%  615.00us
     90%  757.00us
     99%    1.61ms
  164241 requests in 3.10s, 39.00MB read
Requests/sec:  52987.55
Transfer/sec:     12.58MB
`;

test('the rate and the latency are read', () => {
  assert.deepEqual(readWrk(output), { requests: 164_241, requestsPerSecond: 52_987.55, p99Ms: 1.61 });
  assert.equal(readWrk(output.replace('1.61ms', '920.00us')).p99Ms, 0.92);
  // Seconds are padded.
  assert.equal(readWrk(output.replace('1.61ms', '1.47s ')).p99Ms, 1470);
});

test('figures of wrong answers, or none, are no figures', () => {
  assert.throws(() => readWrk(`${output}  Non-2xx or 3xx responses: 5\n`), /right answers/);
  assert.throws(() => readWrk('unable to connect'), /unable to connect/);
});
