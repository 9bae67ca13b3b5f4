import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparisons, reports, transcripts } from '../../reports/index.ts';
import { scorecardFormats } from '../../mock/scorecard/formats.ts';
import { comparisonFormats, gradeFormats, reportFormats, transcriptFormats } from './report-formats.ts';

test('the help names every format, in the order of the registries', () => {
  assert.deepEqual(reportFormats, Object.keys(reports));
  assert.deepEqual(comparisonFormats, Object.keys(comparisons));
  assert.deepEqual(transcriptFormats, Object.keys(transcripts));
  assert.deepEqual(gradeFormats, Object.keys(scorecardFormats));
});
