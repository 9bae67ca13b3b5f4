import { filterStyle } from '../filter.ts';
import type { Markup } from '../markup.ts';
import { baseStyle } from './base.ts';
import { chartStyle } from './charts.ts';
import { findingStyle } from './findings.ts';
import { overviewStyle } from './overview.ts';
import { printStyle } from './print.ts';
import { rowStyle } from './rows.ts';

/** Every style element of the page. */
export const styles: readonly Markup[] = [
  baseStyle,
  overviewStyle,
  findingStyle,
  rowStyle,
  chartStyle,
  filterStyle,
  printStyle,
];
