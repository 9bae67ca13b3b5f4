/** Where tables are shown, and of which parts. */
export const pages: Readonly<Record<string, (part: string) => boolean>> = {
  'README.md': (part) => part === 'mock',
  'docs/speed.md': () => true,
};

const begin = (part: string) => `<!-- figures: ${part} -->`;
const END = '<!-- end of figures -->';

/**
 * A text in which what stands between the markers of a part is another table.
 *
 * @throws Error where it has no such markers
 */
export function withFigures(text: string, part: string, table: string): string {
  const from = text.indexOf(begin(part));
  const to = text.indexOf(END, from);
  if (from === -1 || to === -1) throw new Error(`there is no ${begin(part)} … ${END}`);
  return `${text.slice(0, from)}${begin(part)}\n\n${table}\n${text.slice(to)}`;
}
