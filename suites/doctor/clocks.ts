import { header, type Answer } from '../answer.ts';
import { bad, good, unknown, type Finding } from './finding.ts';

/** Clocks that are set by the same time differ by less, in ms. */
const MOST_APART = 10_000;

/**
 * How far the clock of the target is ahead of ours (ms): at least `from`, at most `to`. A Date field is
 * cut to the second and was written at some time between request and answer; many answers narrow it down.
 */
export function offset(
  answers: readonly Answer[],
): { readonly from: number; readonly to: number } | undefined {
  const ranges = answers.flatMap((answer) => {
    const date = Date.parse(header(answer, 'date') ?? '');
    // A cache tells the time of its own answer by the age of what it holds (RFC 9111 5.1).
    const age = Number(header(answer, 'age') ?? 0) * 1000;
    return Number.isNaN(date + age)
      ? []
      : [{ from: date + age - answer.receivedAt, to: date + age + 999 - answer.sentAt }];
  });
  if (ranges.length === 0) return undefined;
  return {
    from: Math.max(...ranges.map(({ from }) => from)),
    to: Math.min(...ranges.map(({ to }) => to)),
  };
}

/** Whether the two clocks agree: `expiresAt` and `executedAt` are told by them. */
export function judgeClock(answers: readonly Answer[]): Finding {
  const range = offset(answers);
  if (range === undefined) return unknown('no answer has a Date field that can be read');
  // A clock that stands still, or was set meanwhile, contradicts itself.
  const [least, most] = [Math.min(range.from, range.to), Math.max(range.from, range.to)];
  const apart = least > 0 ? least : most < 0 ? most : 0;
  if (Math.abs(apart) <= MOST_APART)
    return good(
      apart === 0
        ? `no difference to be seen (within ${seconds(Math.max(100, -least, most))})`
        : `${seconds(Math.abs(apart))} ${apart > 0 ? 'ahead of' : 'behind'} this machine's`,
    );
  return bad(
    `${seconds(Math.abs(apart))} ${apart > 0 ? 'ahead of' : 'behind'} this machine's`,
    'Set the clock of the target, or of this machine: the expiry of keys and executedAt are told by them.',
  );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
