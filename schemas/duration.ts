const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Converts a duration such as `500ms`, `90s`, `1.5m` or `1h` to ms; undefined for another text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * unitsInMs[unit]!;
}
