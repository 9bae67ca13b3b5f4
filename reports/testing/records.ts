import * as fc from 'fast-check';
import checkupSchema from '../../schemas/checkup.schema.json' with { type: 'json' };
import type { Checkup, RequirementResult, RunRecord, Sweep } from '../../schemas/generated/types.ts';
import sweepSchema from '../../schemas/sweep.schema.json' with { type: 'json' };
import recordSchema from '../../schemas/run-record.schema.json' with { type: 'json' };
import sample from './sample-record.json' with { type: 'json' };

/** A record with every outcome and every level, for the golden files. */
export const sampleRecord = sample as unknown as RunRecord;

/** Its first failure. */
export const sampleFailure = sampleRecord.requirements.find((result) => result.outcome === 'failed')!;

/** Parses `a/b/1 required excluded skipped`: id, level, outcome and reason; `known` means in the baseline. */
export const rowOf = (text: string) => {
  const [id, level, outcome, reason = '?'] = text.split(' ');
  const base = {
    id,
    level,
    outcome,
    reason,
    title: 't',
    clause: 'c',
    words: 'w',
    aspect: 'status',
    cases: 1,
  };
  const sides = { expected: '200', actual: '404' };
  return {
    ...base,
    ...sides,
    ...(reason === 'known' && { baseline: 'reason' }),
  } as unknown as RequirementResult;
};
export const rowsOf = (text: string) => (text === '' ? [] : text.split('; ').map(rowOf));

const joined = (...pieces: readonly fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...pieces), { maxLength: 6 }).map((drawn) => drawn.join(''));

/** Text from a hostile target: controls, escapes, bidi overrides, lone surrogates, forged lines. */
export const hostileText: fc.Arbitrary<string> = joined(
  fc.constantFrom(
    ...'\u0000|\u001b[31m|\u001b]0;title\u0007|\u009b2J|\r|\u00a0|e\u0301|漢字|🦀|</script>'.split('|'),
    ...'\u2028|\u202e|\u2066|\u200b|\ufeff|\ud800|\udc00'.split('|'),
    '\nconformant: 43 of 43 required verified',
    ' conformant: 43 of 43 required verified ',
    "'\\",
    'x'.repeat(700),
  ),
  fc.string({ unit: 'binary' }),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** Text with a meaning in Markdown: links, mentions, HTML, ends of code, cells and fences. */
export const hostileMarkdown: fc.Arbitrary<string> = joined(
  fc.constantFrom(
    ...'` `` ``` ~~~ | \\| \\ @octocat http://evil.example/ www.evil.example a@evil.example'.split(' '),
    ...'[a](http://evil.example) ![a](b) <!-- &lt; **bold** _em_ ~~gone~~ [^1] :tada: --- $x$'.split(' '),
    '<img src=x onerror=alert(1)>',
    '# heading',
    '- item',
    '1. item',
    '> quote',
    ' ',
  ),
  fc.string(),
  hostileText,
);

/** Text with a meaning in HTML. */
export const hostileMarkup: fc.Arbitrary<string> = fc.constantFrom(
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '" onmouseover="alert(1)',
  '</style><style>*{display:none}',
  '</title><b>',
  '<!--',
  ']]>',
  'javascript:alert(1)',
  '&lt;b&gt;&#60;&#x202e;',
  '</details></section></main>',
  '<svg><script>',
);

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

const idStart = fc.constantFrom('', 'auth/user-status/');

function valuesOf(root: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const resolved = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined
      ? schema
      : ($ref
          .split('/')
          .slice(1)
          .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], root) as Schema);
  const values = (reference: Schema, name = ''): fc.Arbitrary<unknown> => {
    const schema = resolved(reference);
    const { minimum, maximum, exclusiveMinimum } = schema;
    const least = exclusiveMinimum === undefined ? (minimum ?? 0) : 1e-9;
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map((one) => values(one)));
    switch (schema.type ?? '') {
      case 'string':
        return name === 'id' ? fc.tuple(idStart, text).map((parts) => parts.join('')) : text;
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: minimum ?? -1_000_000, max: 1_000_000 });
      case 'number':
        return fc.double({ min: least, max: maximum ?? 1e9, noNaN: true });
      case 'array':
        return fc.array(values(schema.items!), { maxLength: name === 'requirements' ? 12 : 4 });
      case 'object': {
        const parts = [...(schema.allOf ?? []).map(resolved), schema];
        const properties = parts.flatMap((part) => Object.entries(part.properties ?? {}));
        return properties.length === 0
          ? fc.dictionary(fc.oneof(text, fc.constant('Content-Type')), text, { maxKeys: 3 })
          : fc.record(Object.fromEntries(properties.map(([key, value]) => [key, values(value, key)])), {
              requiredKeys: parts.flatMap(({ required = [] }) => required),
            });
      }
      default:
        throw new Error(`a schema of the type ${schema.type} cannot be drawn`);
    }
  };
  return values(root);
}

/** Draws a record of any shape, with texts from `text`. */
export const anyRecord = (text: fc.Arbitrary<string>): fc.Arbitrary<RunRecord> =>
  valuesOf(recordSchema, text) as fc.Arbitrary<RunRecord>;

/** Draws a result of doctor, with texts from `text`. */
export const anyCheckup = (text: fc.Arbitrary<string>): fc.Arbitrary<Checkup> =>
  valuesOf(checkupSchema, text) as fc.Arbitrary<Checkup>;

/** Draws the result of a sweep, with texts from `text`. */
export const anySweep = (text: fc.Arbitrary<string>): fc.Arbitrary<Sweep> =>
  valuesOf(sweepSchema, text) as fc.Arbitrary<Sweep>;

/** Controls except the line break, characters that reorder or hide text, lone surrogates. */
export const DANGEROUS = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
