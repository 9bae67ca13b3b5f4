type Defined<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** Returns a copy of an object without its undefined members. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) rest[name] = value;
  return rest as Defined<Members>;
}
