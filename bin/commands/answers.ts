import type { AllowedAnswer, BrokenRow, RowText } from '../../suites/catalogue/right-answers.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-codes.ts';
import { command, type Values } from './command.ts';
import { config, file, onOff, target, text } from './flags.ts';
import { loadFixture } from '../fixture-file.ts';
import { readBytes, shownName } from '../input-files.ts';
import { readRequest, readAnswer } from '../answers/read-text.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import * as suites from '../../suites/index.ts';

const flags = {
  key: { ...text, describe: 'send the key with this name, or none' },
  fixture: target.fixture,
  partner: target.partner,
  answer: {
    ...file,
    describe: 'read an answer from this file (-: standard input), as curl -i prints it, and judge it',
  },
  strict: { ...onOff, describe: 'exit with 1 for a broken recommendation, too' },
  json: { ...onOff, describe: 'print JSON' },
  config,
} as const;

export const answers = command({
  usage: 'answers <request>',
  what: 'print the right answers to a request, or judge one',
  positionals: {
    request: {
      type: 'string',
      demandOption: true,
      describe: 'a path or a URL; quote it, with a method before it if it is not GET',
    },
  },
  flags,
  // The data of the target that `verify` uses.
  configured: { section: 'verify', only: ['fixture', 'partner', 'config'] },
  examples: [
    ["$0 answers '/api/ib/user-status?user_id=x'", 'the right answers'],
    ['$0 answers /api/ib/user-status --answer a.txt', 'whether this one is right'],
  ],
  run: async (values, context) => {
    const { found, redact } = await findAnswers(values, context);
    await context.print(redact(values.json ? `${JSON.stringify(found, null, 2)}\n` : render(found)));
    return exitCodeOf(found, values.strict);
  },
});

const BUILT_IN = 'the built-in data of the mock; --fixture gives that of another target';

/** What the command found out; its JSON. */
type Found = Awaited<ReturnType<typeof findAnswers>>['found'];

async function findAnswers(values: Values<typeof flags> & { readonly request: string }, context: CliContext) {
  const known = suites.knownFrom(await loadFixture(values.fixture, context.env, context), values.partner);
  const key = keyNamed(values.key, known.everyKey, known.callerKeys[0]);
  const request = readRequest(values.request, key);
  const answer = values.answer === undefined ? undefined : await answerIn(values.answer, context);
  const found = {
    request: `${request.method} ${request.target}`,
    key: key === undefined ? 'without a key' : `with ${key.name}`,
    data: values.fixture === undefined ? BUILT_IN : shownName(values.fixture),
    partner: known.partner,
    allowed: suites.rightAnswersTo(known, request),
    ...(answer && {
      judged:
        suites.isFromFrontEnd(answer) || answer.status === PROXY_REFUSED
          ? ('a proxy or gateway answered, so nothing was judged' as const)
          : suites.judgeAnswer(known, request, answer),
    }),
  };
  return { found, redact: suites.redactor(known) };
}

/** The key with this name, such as `northwind/active`. */
function keyNamed<Key extends { readonly name: string }>(
  name: string | undefined,
  keys: readonly Key[],
  byDefault: Key | undefined,
): Key | undefined {
  if (name === 'none') return undefined;
  if (name === undefined) return byDefault;
  const bare = (long: string) => long.replace(/^<key |>$/g, '');
  const found = keys.find((key) => bare(key.name) === bare(name));
  if (found !== undefined) return found;
  const names = [...keys.map((key) => bare(key.name)), 'none'];
  throw wrongUsage(
    `--key ${name}: the fixture has no such key${didYouMean(name, names)} (keys: ${names.join(', ')})`,
  );
}

async function answerIn(name: string, context: CliContext) {
  const bytes = await readBytes(name, context, { what: `--answer ${name}` });
  return readAnswer(bytes, shownName(name));
}

function exitCodeOf({ judged = [] }: Found, isStrict: boolean): number {
  if (typeof judged === 'string') return exitCodes.incomplete[0];
  const isWrong = judged.some(({ level }) => level === 'required' || isStrict);
  return exitCodes[isWrong ? 'nonconformant' : 'conformant'][0];
}

/** Proxy Authentication Required (RFC 9110 15.5.8). */
const PROXY_REFUSED = 407;

const NOTHING_SAID =
  'The interface says nothing about this request, but no answer may show data without a valid key.';

const titles: Readonly<Record<AllowedAnswer['kind'], string>> = {
  required: 'Right',
  recommended: 'Recommended',
  open: 'Right too, because the interface is silent',
};

function render({ request, key, data, partner, allowed, judged }: Found): string {
  const lines = [request, `    ${key}; partner under test: ${partner ?? 'none'}`, `    data: ${data}`, ''];
  if (judged !== undefined) lines.push(...renderJudgement(judged), '');
  if (allowed === undefined) return [...lines, NOTHING_SAID, ''].join('\n');
  for (const [kind, title] of Object.entries(titles)) {
    const some = allowed.answers.filter((one) => one.kind === kind);
    if (some.length > 0) lines.push(`${title}:`, ...some.flatMap(renderAnswer), '');
  }
  if (allowed.alsoChecked.length > 0)
    lines.push(
      'Checked in the answer, too:',
      ...allowed.alsoChecked.flatMap((row) => renderRow(row, '  ')),
      '',
    );
  return [...lines, 'Always right, if the key is rate-limited:', `  ${allowed.limited}`, ''].join('\n');
}

const renderAnswer = ({ text: answer, requirements }: AllowedAnswer) => [
  `  ${answer}`,
  ...requirements.flatMap((row) => renderRow(row, '      ')),
];

const renderRow = ({ id, level, clause, title, reading }: RowText, indent: string) => [
  `${indent}${id}${level === 'required' ? '' : ` (${level})`}`,
  `${indent}    ${title}. ${clause}.`,
  ...(reading === undefined ? [] : [`${indent}    Our reading: ${reading}`]),
];

function renderJudgement(judged: readonly BrokenRow[] | string): readonly string[] {
  if (typeof judged === 'string') return [`? ${judged}`];
  const broken = judged.filter(({ level }) => level === 'required');
  return [
    broken.length > 0 ? '✗ This answer is wrong.' : '✓ This answer is right.',
    ...judged.flatMap(({ expected, actual, ...row }) => [
      ...renderRow(row, '  '),
      `      expected: ${expected}`,
      `      actual:   ${actual}`,
    ]),
  ];
}
