import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scorecardFormats } from '../../mock/scorecard.ts';
import { gradeFormats } from './report-formats.ts';

test('the help names every format of a scorecard', () => {
  assert.deepEqual(gradeFormats, Object.keys(scorecardFormats));
});
