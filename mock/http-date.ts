let second = Number.NaN;
let text = '';

/** A time in Unix ms as HTTP writes it (RFC 9110, 5.6.7). Requests of one second share the text. */
export function httpDate(now: number): string {
  const asked = Math.floor(now / 1000);
  if (asked !== second) {
    second = asked;
    text = new Date(asked * 1000).toUTCString();
  }
  return text;
}
