import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf } from '../request.ts';
import type { Context } from '../requirement.ts';
import type { Sighting } from './history.ts';
import { asCaller, found } from './kinds.ts';

/** What other requests are told while a key is limited. */
export interface Meanwhile {
  /** Statuses of other requests of the limited key, and of one with an unknown key, by what was asked. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Whether other keys are limited too, by name. */
  readonly others: Readonly<Record<string, boolean>>;
  /** Those that the limiter may have counted. */
  readonly history: readonly Sighting[];
}

/** Asks for other things, and with other keys, at once. */
export async function lookAround(endpoint: Endpoint, context: Context, known: Known): Promise<Meanwhile> {
  const findable = findableId(endpoint, known);
  const asked = {
    'a known id': found(endpoint, known),
    'an invalid id': asCaller(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findable, {
      credential: { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' },
    }),
  };
  const keys = [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)];
  const replies = await context.burst(
    ...Object.values(asked),
    ...keys.map((key) => lookupOf(endpoint, findable, { credential: { as: 'key', key } })),
  );
  const names = [...Object.keys(asked), ...keys.map(({ name }) => name)];
  const answers = replies.flatMap((reply, at) =>
    reply.kind === 'answer'
      ? [{ ...reply, name: names[at]!, isOther: at >= names.length - keys.length }]
      : [],
  );
  return {
    statuses: Object.fromEntries(
      answers.flatMap(({ isOther, name, status }) => (isOther ? [] : [[name, status]])),
    ),
    others: Object.fromEntries(
      answers.flatMap(({ isOther, name, status }) => (isOther ? [[name, status === 429]] : [])),
    ),
    history: answers.flatMap(({ status, sentAt, receivedAt }) =>
      status === 429 ? [] : [{ sentAt, receivedAt, result: 'other' }],
    ),
  };
}
