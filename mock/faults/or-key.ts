import type { Endpoint } from '../../schemas/endpoints.ts';
import type { UnreadCall } from '../behaviour.ts';
import type { Change } from '../change.ts';
import { valuesOf } from '../overlay.ts';

/** Lets in who presents nothing that is known, but passes `test` against a key that would let one in. */
export const orKey =
  (
    which: readonly Endpoint[],
    test: (key: string, call: UnreadCall, credential: string | undefined) => boolean,
  ): Change =>
  (behaviour) => ({
    ...behaviour,
    findKey: (world, credential, call) => {
      const found = behaviour.findKey(world, credential, call);
      if (found !== undefined || !which.includes(call.endpoint)) return found;
      return valuesOf(world.keys).find(
        (one) => behaviour.admits(one, call) && test(one.key, call, credential),
      );
    },
  });
