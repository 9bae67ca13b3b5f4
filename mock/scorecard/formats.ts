import type { Scorecard } from '../scorecard.ts';
import { scorecardJson } from './json.ts';
import { scorecardJunit } from './junit.ts';
import { scorecardText } from './text.ts';

/** How a scorecard is written. */
export const scorecardFormats = {
  json: { type: 'application/json', write: scorecardJson },
  junit: { type: 'application/xml', write: scorecardJunit },
  text: { type: 'text/plain; charset=utf-8', write: scorecardText },
} as const satisfies Record<string, { readonly type: string; readonly write: (card: Scorecard) => string }>;

export type ScorecardFormat = keyof typeof scorecardFormats;
