import { Problem } from '../../schemas/problem.ts';
import { queueChaos, setChaos, shownChaos } from '../controls.ts';
import { parseChaos } from '../chaos.ts';
import {
  tell,
  sandboxNamed,
  sandboxSeen,
  serviceWith,
  type Sandbox,
  type Session,
  Refusal,
  wrongAt,
} from '../session.ts';
import { faults } from '../faults.ts';
import type { Deviation } from '../options.ts';
import { fieldsOf, needed, textAt, wholeAt, type Fields } from './fields.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

const shown = (sandbox: Sandbox) => ({ fault: sandbox.deviation?.id ?? null, ...shownChaos(sandbox) });

/** The deviation that is asked for; null: none. */
function deviationOf(fault: unknown): Deviation | null {
  if (fault === null) return null;
  const found = typeof fault === 'string' && Object.hasOwn(faults, fault) ? faults[fault] : undefined;
  if (typeof fault !== 'string' || found === undefined)
    throw wrongAt('fault', 'has to be an id that GET /__admin/faults lists, or null');
  return { id: fault, change: found.change };
}

function specsOf({ chaos }: Fields): readonly string[] | undefined {
  if (chaos === undefined) return undefined;
  const specs = chaos ?? [];
  if (!Array.isArray(specs) || !specs.every((spec) => typeof spec === 'string'))
    throw wrongAt('chaos', 'has to be a list of texts such as ["500:0.1", "slow:200ms..2s"], or null');
  told({ place: 'chaos' }, () => parseChaos(specs));
  return specs;
}

/** What is wrong with a spec is told in its own words. */
function told<Result>(details: { readonly place?: string }, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Refusal(400, error.message, details);
  }
}

function change(session: Session, { world, body }: AdminRequest) {
  const fields = fieldsOf(body, ['fault', 'chaos', 'seed']);
  if (Object.keys(fields).length === 0)
    throw wrongAt('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
  const sandbox = sandboxNamed(session, world);
  // All of it is read before any of it is done.
  const [specs, seed] = [specsOf(fields), wholeAt(fields, 'seed', Number.MIN_SAFE_INTEGER)];
  if (fields['fault'] !== undefined) {
    const deviation = deviationOf(fields['fault']) ?? undefined;
    sandbox.deviation = deviation;
    sandbox.service = serviceWith(session.options, deviation);
    const what = deviation ? `fault ${deviation.id} on` : 'no fault';
    tell(session.watchers, () => ({ kind: 'change', world, what }));
  }
  if (specs !== undefined || seed !== undefined) setChaos(session, sandbox, specs, seed);
  return ok(shown(sandbox));
}

const body = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    fault: { type: ['string', 'null'] },
    chaos: { type: ['array', 'null'], items: { type: 'string' } },
    seed: { type: 'integer' },
  },
};

/** Deviations from the interface, one at a time, and chaos: what can go wrong on the way. */
export const faultRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/faults',
    summary:
      'The deviation that is on (null: none), the chaos and what befalls the next requests, and all deviations that there are.',
    handle: (session, { world }) =>
      ok({
        ...shown(sandboxSeen(session, world)),
        faults: Object.entries(faults).map(([id, { what }]) => ({ id, what })),
      }),
  },
  ...(['PUT', 'POST'] as const).map((method) => ({
    method,
    path: '/faults',
    summary:
      'Switches a deviation on by its id, or off with null; sets the chaos, such as ["500:0.1", "slow:200ms..2s"], and its seed. What is left out stays.',
    body,
    handle: change,
  })),
  {
    method: 'POST',
    path: '/faults/next',
    summary: 'What befalls the next requests: 429, 500 to 599, reset, timeout, truncate, or such as slow:2s.',
    body: {
      type: 'object',
      additionalProperties: false,
      required: ['kind'],
      properties: { kind: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
    },
    handle: (session, request) => {
      const fields = fieldsOf(request.body, ['kind', 'count']);
      const kind = needed('kind', textAt(fields, 'kind'), 'such as "503", "reset" or "slow:2s"');
      const count = wholeAt(fields, 'count', 1);
      const sandbox = sandboxNamed(session, request.world);
      return ok(told({}, () => queueChaos(session, sandbox, kind, count)));
    },
  },
];
