import type { Need, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { compact, count } from './text.ts';

type Limits = RunRecord['rateLimited'];
type Limit = NonNullable<Limits['endpoints'][number]['limit']>;

/** `90s`, `12m`, `3h`: a duration as flags take it. */
export function flagDuration(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** `--max-duration 12m reaches strength 1`; with `isTimely`, waiting is not what is missing. */
export const needWords = ({ reaches, seconds, requests }: Need, isTimely = seconds === 0): string => {
  const bound = isTimely ? `--max-requests ${requests}` : `--max-duration ${flagDuration(seconds)}`;
  return `${bound} ${reaches === 'everything' ? 'is enough for everything' : `reaches ${reaches}`}`;
};

/** What answers taught is not exact: `about 15m` for 902 s. */
function limitWords({ requests, windowSeconds, source }: Limit): string {
  const rounded = 60 * Math.round(windowSeconds / 60);
  const isAbout = source === 'learned' && Math.abs(rounded - windowSeconds) < windowSeconds / 50;
  const window =
    isAbout && rounded !== windowSeconds ? `about ${flagDuration(rounded)}` : flagDuration(windowSeconds);
  return `${count(requests)} in ${window} (${source})`;
}

/** `user-status 20 in 5m (stated), deposit-check 100 in 15m (learned)`; empty if no limit is known. */
const usedLimits = ({ endpoints }: Limits): string =>
  compact(...endpoints.map(({ endpoint, limit }) => limit && `${endpoint} ${limitWords(limit)}`)).join(', ');

/** `the target contradicts the limit stated for user-status`; undefined if it does not. */
export function contradictionRemark({ rateLimited: { endpoints } }: RunRecord): string | undefined {
  const names = endpoints.filter(({ contradiction }) => contradiction !== undefined);
  return names.length === 0
    ? undefined
    : `the target contradicts the limit stated for ${names.map(({ endpoint }) => endpoint).join(' and ')}`;
}

type Compared = RequirementResult & {
  readonly outcome: 'passed';
  readonly why?: string;
  readonly neededSeconds?: number;
};

/** Requirements about limits that passed without a comparison with the stated threshold. */
const notCompared = ({ requirements }: RunRecord): readonly Compared[] =>
  requirements.filter((row): row is Compared => row.outcome === 'passed' && row.threshold !== undefined);

/** Whether `--strict` makes a run incomplete: a stated limit was not compared with that of the target. */
export const isOpenIfStrict = (record: RunRecord): boolean => notCompared(record).length > 0;

/** What a run knows about limits, in sentences: those it used, what contradicts them, and what it did not compare. */
export function limitSentences(record: RunRecord): readonly string[] {
  const { endpoints, ignored = [] } = record.rateLimited;
  const open = notCompared(record);
  const needed = Math.max(0, ...open.map(({ neededSeconds = 0 }) => neededSeconds));
  const advice = needed > 0 ? `; --max-duration ${flagDuration(Math.ceil(needed / 60) * 60)} compares` : '';
  const reasons = [...new Set(open.map(({ why }) => why))].join('; ');
  const used = usedLimits(record.rateLimited);
  return compact(
    used !== '' && `limits used: ${used}`,
    ...endpoints.map(
      ({ contradiction }) =>
        contradiction !== undefined && `the target contradicts the fixture: ${contradiction}`,
    ),
    ...endpoints.flatMap(({ remarks = [] }) => remarks.map((words) => `limits: ${words}`)),
    ignored.length > 0 && `announced limits that the target did not apply: ${ignored.join(', ')}`,
    open.length > 0 &&
      `stated limits not compared with the target's: ${open.length}, because ${reasons}${advice}`,
  );
}
