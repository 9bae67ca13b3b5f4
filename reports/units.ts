/** A whole number as people read it: `1,234`. What knows locales takes 20 ms to load. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A number with its noun: `1 request`, `1,234 requests`. */
export function several(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** A time in milliseconds as people read it: `4.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${count(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

/** A latency in milliseconds as people read it, to three digits: `0.43 ms`, `12.5 ms`, `1.25 s`. */
export function latency(ms: number): string {
  const [value, unit] = ms < 999.5 ? [ms, 'ms'] : [ms / 1000, 's'];
  return `${value < 1 ? Number(value.toFixed(2)) : Number(value.toPrecision(3))} ${unit}`;
}
