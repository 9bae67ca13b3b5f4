import { parsers } from 'prettier/plugins/typescript';

/** A small mistake in a source file. */
export interface Mutant {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** What stands there in place of the text from `start` to `end`. */
  readonly text: string;
  readonly line: number;
}

interface Node {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
  readonly [field: string]: unknown;
}

const swapped: Readonly<Record<string, readonly [kind: string, to: string]>> = {
  '===': ['comparison', '!=='],
  '!==': ['comparison', '==='],
  '<': ['comparison', '<='],
  '<=': ['comparison', '<'],
  '>': ['comparison', '>='],
  '>=': ['comparison', '>'],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '??': ['logic', '&&'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '%': ['arithmetic', '*'],
};

/** Fields of a node that hold types or names. */
const skippedFields = /^(?:type(?:Annotation|Parameters|Arguments)|returnType|source)$/;
const skippedTypes =
  /^(?:TS(?:Interface|TypeAlias)Declaration|Import(?:Declaration|Attribute)|TSModuleDeclaration)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'range' in value;

/** All mutants of a source file, in the order of its text. */
export async function mutantsOf(file: string, source: string): Promise<readonly Mutant[]> {
  const found: Mutant[] = [];
  const textOf = ({ range }: Node) => source.slice(...range);
  const add = (kind: string, node: Node, text: string) => {
    const [start, end] = node.range;
    found.push({ kind, start, end, text, line: source.slice(0, start).split('\n').length });
  };
  // The other way round of these is a mutant of its own.
  const isTurned = ({ operator }: Node) => ['===', '!==', '!'].includes(String(operator));
  const negate = (condition: unknown) => {
    if (isNode(condition) && !isTurned(condition)) add('condition', condition, `(!(${textOf(condition)}))`);
  };

  const mutate = (node: Node, parent: Node | undefined) => {
    const { type } = node;
    const [left, right, argument, value] = [node['left'], node['right'], node['argument'], node['value']];
    const [kind, operator] = swapped[String(node['operator'])] ?? [];
    if (isNode(left) && isNode(right) && kind !== undefined && /^(?:Binary|Logical)Expression$/.test(type))
      add(kind, node, `((${textOf(left)}) ${operator} (${textOf(right)}))`);
    if (/^(?:If|While)Statement$|^ConditionalExpression$/.test(type)) negate(node['test']);
    if (type === 'UnaryExpression' && node['operator'] === '!' && isNode(argument))
      add('condition', node, `(!!(${textOf(argument)}))`);
    if (type === 'Literal' && typeof value === 'number')
      add('number', node, `(${value > 10 ? 0 : value + 1})`);
    if (type === 'Literal' && typeof value === 'boolean') add('boolean', node, `(${!value})`);
    if (type === 'Literal' && typeof value === 'string') add('string', node, value === '' ? "'x'" : "''");
    if (type === 'TemplateLiteral' && parent?.type !== 'TaggedTemplateExpression')
      add('string', node, "('')");
    if (type === 'ExpressionStatement' && parent !== undefined && 'body' in parent)
      add('statement', node, ';');
    const returned =
      type === 'ReturnStatement' ? argument : type === 'ArrowFunctionExpression' && node['body'];
    if (isNode(returned) && returned.type === 'ArrayExpression' && textOf(returned) !== '[]')
      add('array', returned, '[]');
  };

  const visit = (node: Node, parent?: Node) => {
    if (skippedTypes.test(node.type)) return;
    mutate(node, parent);
    for (const [field, value] of Object.entries(node)) {
      if (skippedFields.test(field) || (field === 'key' && node['computed'] !== true)) continue;
      for (const child of [value].flat()) if (isNode(child)) visit(child, node);
    }
  };
  visit((await parsers.typescript.parse(source, { filepath: file } as never)) as Node);
  return found.toSorted((a, b) => a.start - b.start);
}

/** The source with one of its mutants. */
export const mutated = (source: string, { start, end, text }: Mutant) =>
  source.slice(0, start) + text + source.slice(end);

/**
 * The source with code in front of mutants, that appends the name of each one that is reached to a file.
 *
 * @param mutants of this source, with a name each
 */
export function traced(
  source: string,
  mutants: readonly (readonly [name: number, Mutant])[],
  log: string,
): string {
  const edits = mutants.flatMap(([name, { kind, start, end }]) => {
    const [opens, closes] =
      kind === 'statement' ? [`{isReached(${name});`, '}'] : [`(isReached(${name}),`, ')'];
    return [
      { at: start, length: end - start, text: opens },
      { at: end, length: start - end, text: closes },
    ];
  });
  // At one place, what ends comes before what begins; of two that begin, the longer one comes first; of two that end, the shorter.
  edits.sort((a, b) => a.at - b.at || Math.sign(a.length) - Math.sign(b.length) || b.length - a.length);
  let at = 0;
  const parts = edits.map((edit) => {
    const before = source.slice(at, edit.at);
    at = edit.at;
    return before + edit.text;
  });
  return `${parts.join('')}${source.slice(at)}
function isReached(name: number): void {
  const seen = ((globalThis as any).reachedMutants ??= new Set());
  if (!seen.has(name)) process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(log)}, name + '\\n');
  seen.add(name);
}
`;
}
