import { tell, sandboxNamed, sandboxSeen, timeIn, type Session } from '../session.ts';
import { gaugesOf } from '../limiter.ts';
import { limitsOf, type Limits } from '../world.ts';
import { readPart } from './part.ts';
import { ok, type Route } from './route.ts';

/** Limits as a fixture has them. */
export function shownLimits({ 'user-status': user, 'deposit-check': deposit }: Limits) {
  return {
    ...(user && { 'user-status': { failedLookups: user.most, windowSeconds: user.windowMs / 1000 } }),
    ...(deposit && { 'deposit-check': { requests: deposit.most, windowSeconds: deposit.windowMs / 1000 } }),
  };
}

function shown(session: Session, name: string) {
  const sandbox = sandboxSeen(session, name);
  const { world, service } = sandbox;
  return {
    limits: shownLimits(world.limits),
    gauges: gaugesOf(service.behaviour, world, timeIn(session, sandbox)),
  };
}

/** The limiters: their thresholds, and how full they are (Limits). */
export const limitRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/limits',
    summary: 'The limits for all keys, and how full the windows are; ms until one lets go.',
    handle: (session, { world }) => ok(shown(session, world)),
  },
  {
    method: 'PUT',
    path: '/limits',
    summary: 'Sets the limits for all keys, as a fixture would have them; {} takes them away.',
    body: { $ref: '#/components/schemas/limits' },
    handle: (session, { world: name, body }) => {
      const { limits } = readPart({ limits: body ?? null }, 'limits');
      const sandbox = sandboxNamed(session, name);
      sandbox.world = { ...sandbox.world, limits: limitsOf(limits!) };
      tell(session.watchers, () => ({ kind: 'change', world: name, what: 'limits set' }));
      return ok(shown(session, name));
    },
  },
];
