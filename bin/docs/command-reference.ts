import { helpOf, type Command, type Family, type Flag } from '../commands/command.ts';

/** The page on every command and flag, as Markdown. */
export function commandReference(commands: readonly (Command | Family)[]): string {
  const intro = [
    '# Commands',
    '`ib-conformance <command> --help` says the same on a terminal, and with `--all` what is seldom wanted, too. [How a run ends](../verify.md#outcomes-and-exit-codes) has the exit codes.',
  ];
  return [...intro, ...commands.flatMap((one) => sectionsOf(one, ''))].join('\n\n') + '\n';
}

function sectionsOf(one: Command | Family, under: string): readonly string[] {
  const [name = ''] = one.usage.split(' ');
  if ('commands' in one)
    return [
      `## ${name}`,
      `${sentence(one.what)}.`,
      ...one.commands.flatMap((command) => sectionsOf(command, `${name} `)),
    ];
  const given = Object.entries(one.positionals);
  const flags = Object.entries(one.flags);
  return [
    `${under === '' ? '##' : '###'} ${under}${name}`,
    `${sentence(one.what)}: \`ib-conformance ${under}${one.usage}\``,
    ...(given.length === 0 ? [] : [table(['argument', 'what it is'], given.map(argumentRow))]),
    ...(flags.length === 0 ? [] : [table(['flag', 'what it does', 'default'], flags.map(flagRow))]),
    ...(one.examples.length === 0 ? [] : [table(['example', 'what it does'], one.examples.map(exampleRow))]),
  ];
}

const argumentRow = ([name, { describe, demandOption }]: readonly [string, Flag]) => [
  `\`${name}\``,
  `${describe}${demandOption === true ? '; required' : ''}`,
];

const flagRow = ([name, flag]: readonly [string, Flag]) => [
  `\`--${name}${flag.type === 'boolean' ? '' : ` ${flag.choices?.join('\\|') ?? 'value'}`}\``,
  helpOf(flag),
  typeof flag.default === 'string' ? `\`${flag.default}\`` : '',
];

const exampleRow = ([line, what]: readonly [string, string]) => [
  `\`${line.replace('$0', 'ib-conformance')}\``,
  what,
];

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A table in Markdown; the formatter aligns it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
