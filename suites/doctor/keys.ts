import type { FixtureApiKey } from '../../schemas/generated/types.ts';
import { summary, type Answer } from '../answer.ts';
import { fieldsOf } from '../expectations.ts';
import { bad, good, unknown, type Finding } from './finding.ts';

/** Clocks may differ by so many ms before the end of a key. */
const AROUND_EXPIRY = 60_000;

/** What a target owes to a key, by what the fixture says of it. */
type Due = 'let in' | 'turned away' | 'either';

/** @param now Unix ms */
function dueTo({ partner, state, ...key }: FixtureApiKey, now: number): Due {
  if (state !== 'active' || partner === null) return 'turned away';
  if (key.expiresAfterSeconds !== undefined) return 'either';
  if (key.expiresAt === undefined || key.expiresAt > now + AROUND_EXPIRY) return 'let in';
  return key.expiresAt < now - AROUND_EXPIRY ? 'turned away' : 'either';
}

/** What the fixture says of a key, in words. */
function stated({ partner, state }: FixtureApiKey, due: Due): string {
  if (state !== 'active') return state;
  if (partner === null) return 'that of a non-Partner account';
  return due === 'turned away' ? 'expired by its expiresAt' : state;
}

/**
 * Whether a target treats a key as the fixture says.
 *
 * @param place of the key in the fixture
 */
export function judgeKey(key: FixtureApiKey, place: string, answer: Answer): Finding {
  const { status } = answer;
  const due = dueTo(key, answer.receivedAt);
  if (status === 429)
    return key.limits === undefined
      ? unknown('limited (429) before anything could be seen')
      : good('limited (429), which its own limits in the fixture allow');
  if (status === 401)
    return due === 'let in'
      ? bad(
          `turned away (401), though ${place} is ${stated(key, due)}`,
          `Is it the key of an active partner there? Correct ${place}.key, or its state.`,
        )
      : good(`turned away (401)${due === 'either' ? ', having expired' : `, being ${stated(key, due)}`}`);
  if (typeof fieldsOf(answer)?.['is_under_ib'] !== 'boolean')
    return bad(
      `answered ${summary(answer)}`,
      'A lookup of a user is answered 200 with is_under_ib, or 401 where the key is not let in.',
    );
  return due === 'turned away'
    ? bad(
        `let in (${status}), though ${place} is ${stated(key, due)}`,
        `Take it back at the target, or correct ${place}.`,
      )
    : good(`let in (${status})`);
}
