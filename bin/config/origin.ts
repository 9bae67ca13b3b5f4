/** Where a value came from that was not typed. */
export type Origin = {
  /** The value as a command sees it: no message shows it, but begins where one shows it. */
  readonly texts: readonly string[];
} & (
  | { readonly kind: 'variable'; readonly variable: string }
  | { readonly kind: 'file'; readonly file: string; readonly pointer: string; readonly isList: boolean }
);

/** Origins by the names of flags and arguments, in the order of the help. */
export type Origins = ReadonlyMap<string, Origin>;

const sourceOf = (origin: Origin) => (origin.kind === 'file' ? origin.file : origin.variable);

/** A line that says what came from where: `config: url, fixture from f.json; cases from IB_CASES`. Values stay out of it. */
export function noteOf(origins: Origins): string {
  const names = new Map<string, string[]>();
  for (const [name, origin] of origins)
    names.set(sourceOf(origin), [...(names.get(sourceOf(origin)) ?? []), name]);
  const parts = [...names].map(([source, those]) => `${those.join(', ')} from ${source}`);
  return `config: ${parts.join('; ')}\n`;
}
