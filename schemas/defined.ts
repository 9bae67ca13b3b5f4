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
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) rest[name] = value;
  return rest as Defined<Members>;
}
