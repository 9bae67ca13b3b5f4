/** The format `date-time` of JSON Schema: RFC 3339 as one expression. ajv has no formats of its own. */
export const dateTime = new RegExp(
  [
    String.raw`^(?:\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])`,
    String.raw`|\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\d|30)`,
    String.raw`|\d{4}-02-(?:0[1-9]|1\d|2[0-8])`,
    String.raw`|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)`,
    String.raw`[T\s](?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?`,
    String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$`,
  ].join(''),
  'i',
);
