import type { Need, RunRecord } from '../schemas/generated/types.ts';
import { compact, count } from './text.ts';

type Limits = RunRecord['rateLimited'];

/** `90s`, `12m`, `3h`: a duration as flags take it. */
function flagDuration(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** `--max-duration 12m reaches strength 1`; with `isTimely`, waiting is not what is missing. */
export const needWords = ({ reaches, seconds, requests }: Need, isTimely = seconds === 0): string => {
  const bound = isTimely ? `--max-requests ${requests}` : `--max-duration ${flagDuration(seconds)}`;
  return `${bound} ${reaches === 'everything' ? 'is enough for everything' : `reaches ${reaches}`}`;
};

/** `user-status 20 in 5m, deposit-check 100 in 15m`; empty if no limit is stated. */
const usedLimits = ({ endpoints }: Limits): string =>
  compact(
    ...endpoints.map(
      ({ endpoint, limit }) =>
        limit && `${endpoint} ${count(limit.requests)} in ${flagDuration(limit.windowSeconds)}`,
    ),
  ).join(', ');

/** `the target contradicts the limit stated for user-status`; undefined if it does not. */
export function contradictionRemark({ rateLimited: { endpoints } }: RunRecord): string | undefined {
  const names = endpoints.filter(({ contradiction }) => contradiction !== undefined);
  return names.length === 0
    ? undefined
    : `the target contradicts the limit stated for ${names.map(({ endpoint }) => endpoint).join(' and ')}`;
}

/** What contradicts the stated limits, in sentences, and on demand the limits themselves. */
export function limitSentences({ rateLimited }: RunRecord, hasLimits: boolean): readonly string[] {
  const used = usedLimits(rateLimited);
  return compact(
    hasLimits && used !== '' && `limits used: ${used}`,
    ...rateLimited.endpoints.map(
      ({ endpoint, contradiction }) =>
        contradiction !== undefined && `the target contradicts the fixture at ${endpoint}: ${contradiction}`,
    ),
  );
}
