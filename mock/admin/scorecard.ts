import { gradeOf } from '../controls.ts';
import { wrongAt, sandboxSeen } from '../session.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import type { AdminRequest, Route } from './route.ts';

const names = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** By `?format=`, or else the first media type of Accept that there is. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const asked = query.get('format');
  if (asked === null) {
    const types = accept.split(',').map((type) => type.replace(/;.*/s, '').trim().toLowerCase());
    const found = types.flatMap((type) => names.filter((name) => byType[name].includes(type)));
    return found[0] ?? 'json';
  }
  const known = names.find((name) => name === asked);
  if (known === undefined) throw wrongAt('format', `has to be one of ${names.join(', ')}`);
  return known;
}

const byType: Readonly<Record<ScorecardFormat, readonly string[]>> = {
  json: ['application/json'],
  text: ['text/plain'],
};

/** How the clients did. */
export const scorecardRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/scorecard',
    summary: 'Grades the client by the journal: Retry-After, back-off, polling, keys. JSON or text.',
    query: { format: names.join(', ') },
    handle: async (session, request) => {
      const { type, write } = scorecardFormats[formatFor(request)];
      return {
        status: 200,
        type,
        text: write(await gradeOf(session, [sandboxSeen(session, request.world)])),
      };
    },
  },
];
