/**
 * The commands of a guide: the fenced blocks marked `sh`, by the heading above them.
 *
 * @param markdown its text; a heading has one block at most
 */
export function commandsOf(markdown: string): ReadonlyMap<string, string> {
  const commands = new Map<string, string>();
  let heading = '';
  for (const [, title, language, block] of markdown.matchAll(/^#+ ([^\n]+)$|^```(\w*)\n(.*?)^```$/gms)) {
    if (title !== undefined) heading = title;
    if (language !== 'sh') continue;
    if (commands.has(heading)) throw new Error(`two blocks of commands under "${heading}"`);
    commands.set(heading, block!);
  }
  return commands;
}
