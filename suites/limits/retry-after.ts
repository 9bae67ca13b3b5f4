import { header, type Answer } from '../answer.ts';

/** Date formats of HTTP: IMF-fixdate, RFC 850 and asctime (RFC 9110 5.6.7). All are UTC. */
const httpDate = /^[A-Za-z]{3,9},? [-\w ]+ \d\d:\d\d:\d\d( GMT| \d{4})$/;

/** How long a 429 asks to wait (RFC 9110 10.2.3), in ms; undefined if it says nothing that can be read. */
export function retryAfterMs(answer: Answer): number | undefined {
  const text = header(answer, 'retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  const date = httpDate.test(text) ? Date.parse(text.replace(/( GMT)?$/, ' GMT')) : Number.NaN;
  if (Number.isNaN(date)) return undefined;
  // A date refers to the target's clock.
  const theirs = Date.parse(header(answer, 'date') ?? '');
  return Math.max(0, date - (Number.isNaN(theirs) ? answer.receivedAt : theirs));
}
