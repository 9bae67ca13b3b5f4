import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf } from '../request.ts';
import type { Context } from '../requirement.ts';
import type { TimedRequest } from './history.ts';
import { withTestKey, findableLookup } from './kinds.ts';

/** How other requests are answered while a key is limited. */
export type LimitedProbe = Awaited<ReturnType<typeof probeWhileLimited>>;

/** Sends other requests, and requests with other keys, all at once. */
export async function probeWhileLimited(endpoint: Endpoint, context: Context, known: Known) {
  const findable = findableId(endpoint, known);
  const asked = {
    'a known id': findableLookup(endpoint, known),
    'an invalid id': withTestKey(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findable, {
      credential: { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' },
    }),
  };
  const others = Object.fromEntries(
    [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)].map((key) => [
      key.name,
      lookupOf(endpoint, findable, { credential: { as: 'key', key } }),
    ]),
  );
  const requests = { ...asked, ...others };
  const replies = await context.burst(...Object.values(requests));
  const answers = Object.keys(requests).flatMap((name, at) => {
    const reply = replies[at]!;
    return reply.kind === 'answer' ? [{ ...reply, name }] : [];
  });
  const answersTo = (some: object) => answers.filter(({ name }) => name in some);
  return {
    /** Statuses of other requests of the limited key and of one with an unknown key, by name. */
    statuses: Object.fromEntries(answersTo(asked).map(({ name, status }) => [name, status])),
    /** Whether other keys are limited too, by key name. */
    others: Object.fromEntries(answersTo(others).map(({ name, status }) => [name, status === 429])),
    /** The requests that may have been counted. */
    history: answers
      .filter(({ status }) => status !== 429)
      .map(({ sentAt, receivedAt }): TimedRequest => ({ sentAt, receivedAt, result: 'other' })),
  };
}
