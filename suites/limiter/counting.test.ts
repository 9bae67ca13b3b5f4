import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleKnown } from '../testing/samples.ts';
import type { Request } from '../request.ts';
import { explore } from './explore.ts';
import { limiters } from '../testing/simulated.ts';
import { countedBy, simulatedContext } from '../testing/simulated-context.ts';

const MOST = 12;
const known = { ...sampleKnown, limits: { 'user-status': { failedLookups: MOST, windowSeconds: 2 } } };

const isInvalid = ({ target }: Request) => target.includes('invalid');
const isBadKey = ({ credential }: Request) => credential.as === 'header';
const isMember = ({ target }: Request) =>
  known.members.some(({ user_id }) => target.toLowerCase().includes(user_id.toLowerCase()));

for (const [invalid, badKeys] of [
  [true, true],
  [true, false],
  [false, true],
  [false, false],
] as const)
  for (const manner of ['fixed', 'sliding'])
    test(`${manner}: invalid ids ${invalid ? '' : 'do not '}count, bad keys ${badKeys ? '' : 'do not '}count`, async () => {
      const counts = (request: Request) => {
        if (isBadKey(request)) return badKeys;
        return isInvalid(request) ? invalid : !isMember(request);
      };
      const limiterOf = countedBy(
        (request) => (counts(request) ? 'all' : undefined),
        () => limiters[manner]!(MOST, 2000, 0),
      );
      const { context } = simulatedContext({ limiterOf, forgetsAfter: 2020, slowness: 5 });
      const { limited } = await explore('user-status', context, known);
      assert.deepEqual(limited?.counting, { 'invalid ids': invalid, 'bad keys': badKeys });
    });
