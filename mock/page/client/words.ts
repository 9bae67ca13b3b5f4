/** Most characters of a text that came from outside that are shown. */
const MOST = 400;

/** `1,000,000` */
export const counted = (count: number) => count.toLocaleString('en-US');

/** `16,777,217.01`: all the digits that there are, and at least two behind the point. */
export const amount = (usd: number) =>
  usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

/** `2026-11-21 05:38:10`, of a time in Unix ms; the number itself where no date can hold it. */
export function dateAndTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at}` : date.toISOString().slice(0, -5).replace('T', ' ');
}

/** `05:38:10`, or with `digits` of a second `05:38:10.123` */
export function timeOfDay(at: number, digits: 0 | 3 = 0): string {
  return new Date(at)
    .toISOString()
    .replace(/^.*T/, '')
    .slice(0, digits === 0 ? 8 : 12);
}

/** `5 s`, `2 min 5 s`, `1 h 1 min`, `3 d 2 h`, of ms; rounded up to a second. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** `1 key`, `2 keys` */
export const plural = (count: number, word: string) => `${counted(count)} ${word}${count === 1 ? '' : 's'}`;

/** `first 25 of 1,000,000`, or how many there are where all are shown. */
export const firstOf = (shown: number, total: number) =>
  shown < total ? `first ${counted(shown)} of ${counted(total)}` : counted(total);

/** A text that a client chose: cut off, and what cannot be seen in it made visible. */
export function foreign(text: string): string {
  const cut = text.length > MOST ? `${text.slice(0, MOST)}… (${counted(text.length - MOST)} more)` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
