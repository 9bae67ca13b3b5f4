/** What colour says in a report; the text must say it too. */
export type Tone = 'good' | 'bad' | 'warning' | 'unsure' | 'ours' | 'quiet' | 'loud' | 'plain';

/** Paints text in a tone. */
export type Paint = (tone: Tone, text: string) => string;

const codes = {
  good: [32, 39],
  bad: [31, 39],
  warning: [33, 39],
  unsure: [36, 39],
  ours: [35, 39],
  quiet: [2, 22],
  loud: [1, 22],
  plain: [],
} as const satisfies Record<Tone, readonly [on: number, off: number] | readonly []>;

/** The palette: ANSI colours, or its twin that leaves the text as it is. */
export function palette(color: boolean): Paint {
  return color ? painted : (_, text) => text;
}

function painted(tone: Tone, text: string): string {
  const [on, off] = codes[tone];
  return on === undefined || text === '' ? text : `\u001b[${on}m${text}\u001b[${off}m`;
}
