/** Requests under one setting, all answered before the next begins. */
export interface Round {
  readonly name: string;
  /** Of a cycle; they come to 1. */
  readonly share: number;
  /** Names of worlds that are drawn from; 0: only the main one. */
  readonly worlds: number;
  /** Counted requests that pass for each key and endpoint; undefined: no limiter. */
  readonly most?: number;
  readonly chaos: readonly string[];
  /** Requests that are under way on a connection at once. */
  readonly depth: number;
  /** How long (ms) a client waits. */
  readonly patience?: number;
  /** What may come in place of an answer, for a caller who is let in. */
  readonly instead: readonly (number | 'lost')[];
}

/** All of them in turn, again and again, each time on the other of two fixtures. */
export const rounds: readonly Round[] = [
  { name: 'plain', share: 0.4, worlds: 0, chaos: [], depth: 16, instead: [] },
  // More names than the mock keeps worlds.
  { name: 'worlds', share: 0.2, worlds: 300, chaos: [], depth: 16, instead: [] },
  { name: 'limits', share: 0.15, worlds: 0, most: 40, chaos: [], depth: 16, instead: [429] },
  {
    name: 'errors',
    share: 0.15,
    worlds: 50,
    chaos: ['500:0.05', '503:0.1', '429:0.05'],
    depth: 16,
    instead: [500, 503, 429],
  },
  {
    name: 'cut off',
    share: 0.095,
    worlds: 0,
    chaos: ['reset:0.02', 'truncate:0.02', 'slow:1ms..3ms:0.05'],
    depth: 1,
    instead: ['lost'],
  },
  {
    name: 'held back',
    share: 0.005,
    worlds: 0,
    chaos: ['timeout:0.05'],
    depth: 1,
    patience: 100,
    instead: ['lost'],
  },
];
