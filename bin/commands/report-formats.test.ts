import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reports } from '../../reports/index.ts';
import { reportFormats } from './report-formats.ts';

test('the help names every format of a report, in the order of the registry', () => {
  assert.deepEqual(reportFormats, Object.keys(reports));
});
