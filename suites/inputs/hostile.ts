/** A query that attacks the parser before any UUID check. */
export interface Hostile {
  readonly query: string;
  /** Holds a good value in an odd place: reading it is as fine as refusing it. */
  readonly mayBeRead?: true;
}

/** Broken percent-encoding, brackets, long values. */
export function hostileQueries(parameter: string, uuid: string): readonly Hostile[] {
  return [
    ...['%', '%zz', '%4', '%E0%A4%A', '%ff', '%C0%AF', '%ED%A0%80', '%u0031', `${uuid}%`, `${uuid}%2`].map(
      (value) => ({
        query: `${parameter}=${value}`,
      }),
    ),
    ...['[]=', '[]=x', '[0]=x', '[a]=x', '[a][b]=x', '[__proto__]=x', '.x=1'].map((rest) => ({
      query: `${parameter}${rest}`,
    })),
    { query: `${parameter}[]=${uuid}`, mayBeRead: true },
    { query: `${parameter}[0]=${uuid}`, mayBeRead: true },
    { query: `${parameter}[toString]=${uuid}`, mayBeRead: true },
    { query: `${parameter}=${'a'.repeat(8192)}` },
    { query: `${parameter}=${uuid}${'0'.repeat(8156)}` },
    { query: `${parameter}=${'%00'.repeat(2730)}` },
    { query: `${parameter}=x${'&x=1'.repeat(2000)}` },
    { query: `${parameter}==` },
    { query: `=${uuid}`, mayBeRead: true },
    { query: '&&&' },
    { query: '%' },
  ];
}
