import { reports, type ReportName } from '../reports/index.ts';
import { Problem } from '../schemas/problem.ts';
import { didYouMean } from './nearest.ts';
import { prepareFile } from './pending-file.ts';

/** A report that was asked for; without a file it goes to standard output. */
export interface ReportRequest {
  readonly format: ReportName;
  readonly file?: string;
}

/**
 * Reads `format` or `format=file`.
 *
 * @throws Problem with code `usage`
 */
export function parseReport(text: string): ReportRequest {
  const [format = '', ...rest] = text.split('=');
  if (!isReportName(format))
    throw new Problem(
      'usage',
      `--report ${text}: there is no format ${format}${didYouMean(format, Object.keys(reports))} (known: ${Object.keys(reports).join(', ')})`,
    );
  const file = rest.join('=');
  if (rest.length > 0 && file === '')
    throw new Problem('usage', `--report ${text}: the file name is missing behind =`);
  return rest.length === 0 ? { format } : { format, file };
}

const isReportName = (text: string): text is ReportName => Object.hasOwn(reports, text);

/** @throws Problem with code `usage` where a report could not be written to the file */
export const prepareReport = (file: string) => prepareFile(file, 'the report');
