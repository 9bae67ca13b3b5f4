import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf } from '../request.ts';
import type { Context } from '../requirement.ts';
import { asCaller, found } from './kinds.ts';

/** What a limited key, and nobody's, is told about other requests. */
export async function statusesMeanwhile(
  endpoint: Endpoint,
  context: Context,
  known: Known,
): Promise<Record<string, number>> {
  const asked = {
    'a lookup that finds': found(endpoint, known),
    'an invalid id': asCaller(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findableId(endpoint, known), {
      credential: { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' },
    }),
  };
  const replies = await context.burst(...Object.values(asked));
  return Object.fromEntries(
    Object.keys(asked).flatMap((name, at) => {
      const reply = replies[at]!;
      return reply.kind === 'answer' ? [[name, reply.status] as const] : [];
    }),
  );
}

/** Whether other keys are limited too, by name. */
export async function limitedOthers(
  endpoint: Endpoint,
  context: Context,
  known: Known,
): Promise<Record<string, boolean>> {
  const others = [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)];
  const replies = await context.burst(
    ...others.map((key) =>
      lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }),
    ),
  );
  return Object.fromEntries(
    replies.flatMap((reply, nth) =>
      reply.kind === 'answer' ? [[others[nth]!.name, reply.status === 429] as const] : [],
    ),
  );
}
