type Defined<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** An object without those of its members that are undefined. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const found = { ...members };
  for (const name in found) if (found[name] === undefined) delete found[name];
  return found as unknown as Defined<Members>;
}
