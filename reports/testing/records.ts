import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import sample from './sample-record.json' with { type: 'json' };

/** A record with every outcome and every level, for the snapshots of the formats. */
export const sampleRecord = sample as unknown as RunRecord;

/** A run before that of `sampleRecord`: between the two there is every kind of change. */
export const earlierRecord: RunRecord = {
  ...sampleRecord,
  startedAt: '2026-01-14T10:40:00.000Z',
  seed: 5,
  requirements: sampleRecord.requirements
    .filter(({ id }) => id !== 'auth/user-status/revocation')
    .map((result): RequirementResult => {
      const { id, level, clause, title, cases } = result;
      const subject = { id, level, clause, title, cases };
      switch (id) {
        case 'auth/deposit-check/revoked':
        case 'auth/user-status/unknown-key':
          return { ...subject, outcome: 'passed' };
        case 'valid/user-status/percent-encoding':
          return { ...subject, outcome: 'failed', aspect: 'status', expected: '200', actual: '400' };
        case 'valid/user-status/member':
          return {
            ...subject,
            outcome: 'inconclusive',
            reason: 'flaky',
            words: 'two answers to one request',
          };
        case 'rate-limit/user-status/window':
          return { ...result, id: 'rate-limit/user-status/gone' };
        default:
          return result;
      }
    }),
};
