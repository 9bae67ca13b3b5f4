import type { AllowedAnswer, BrokenRow, RowText } from '../../suites/requirements/right-answers.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes, ignoreClosed } from '../exit-codes.ts';
import { command, type Values } from './command.ts';
import * as kinds from './flags.ts';
import { loadFixture, readBytes, shownName } from '../input-files.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import * as suites from '../../suites/index.ts';
import { endpointNames, endpoints } from '../../schemas/endpoints.ts';
import type { Answer } from '../../suites/answer.ts';
import type { KnownKey } from '../../suites/known.ts';
import type { Request } from '../../suites/request.ts';

const flags = {
  key: { ...kinds.text, describe: 'send the key with this name, or none' },
  fixture: kinds.target.fixture,
  partner: kinds.target.partner,
  answer: {
    ...kinds.file,
    describe: 'read an answer from this file (-: standard input), as curl -i prints it, and judge it',
  },
  strict: { ...kinds.onOff, describe: 'exit with 1 for a broken recommendation, too' },
  json: { ...kinds.onOff, describe: 'print JSON' },
  config: kinds.config,
} as const;

export const answers = command({
  usage: 'answers <request>',
  what: 'print the right answers to a request, or judge one',
  guide: 'answers.md',
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
    const shown = redact(values.json ? `${JSON.stringify(found, null, 2)}\n` : render(found));
    await context.print(shown).catch(ignoreClosed);
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
      judged: suites.isFromFrontEnd(answer)
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

const NOTHING_SAID =
  'The interface says nothing about this request, but no answer may show data without a valid key, or be a 5xx (but for 501 to another method or path).';

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
  ...(id === undefined ? [] : [`${indent}${id}${level === 'required' ? '' : ` (${level})`}`]),
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

/**
 * Reads a request: a path or a URL, perhaps with a method before it, such as `GET /api/ib/…`.
 *
 * @param key the key that the request has, if any
 * @throws Problem with code `usage` if it cannot be read or has another path than the interface
 */
export function readRequest(text: string, key: KnownKey | undefined): Request {
  const line = text.trim();
  const [, method = 'GET', target] = /^(?:([A-Z]+)\s+)?(\S+)$/.exec(line) ?? [];
  if (target === undefined)
    throw wrongUsage(`${line}: needs a path or a URL, such as 'GET /api/ib/user-status?user_id=…'`);
  return { ...targetOf(target), method, headers: {}, credential: key ? { as: 'key', key } : { as: 'none' } };
}

/** Path and query of a URL. */
const localOf = (text: string) => text.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');

/** Endpoint and target of a path or URL, without what stands before `/api/ib`. Another form of the path stays as it is. */
function targetOf(text: string): Pick<Request, 'endpoint' | 'target'> {
  const raw = localOf(text);
  const mark = raw.indexOf('?');
  const path = mark < 0 ? raw : raw.slice(0, mark);
  const query = mark < 0 ? '' : raw.slice(mark);
  const endpointIn = (one: string) => endpointNames.find((name) => one.endsWith(endpoints[name].path));
  const exact = endpointIn(path);
  const base = exact === undefined ? '' : path.slice(0, -endpoints[exact].path.length);
  // Before the path of an endpoint, a base path may stand, but nothing that a server may leave out.
  const isForm = exact === undefined || /\/$|\/(?:\.|%2e){1,2}(?:\/|;|$)|;/i.test(base);
  const endpoint = exact ?? endpointIn(normalized(path));
  if (endpoint !== undefined && isForm) return { endpoint, target: path + query };
  if (endpoint === undefined) {
    const paths = endpointNames.map((name) => endpoints[name].path).join(', ');
    throw wrongUsage(`${path || text}: the interface has no such path; paths: ${paths}`);
  }
  return { endpoint, target: endpoints[endpoint].path + query };
}

/** The path that a server may take another one for: decoded, without dot segments, parameters, suffix and letter case. */
function normalized(path: string): string {
  const decoded = path.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const plain = decoded
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .trim();
  const { pathname } = new URL(plain, 'http://localhost');
  return pathname.replace(/(?:\/|\.json)$/, '').toLowerCase();
}

/**
 * Reads an answer as `curl -i` prints it: status line, header fields, an empty line, the body. The last head counts:
 * curl also prints those of a proxy, such as `200 Connection established` or 407, and `100 Continue`.
 *
 * @param name of the file, for messages
 * @throws Problem with code `usage` if it is no HTTP answer
 */
export function readAnswer(bytes: Uint8Array, name: string): Answer {
  // Latin-1 keeps the number of bytes.
  const text = Buffer.from(bytes).toString('latin1');
  const head = /^HTTP\/[\d.]+ ([1-5]\d\d)[^\n]*\n((?:[^\r\n]+\r?\n)*)(?:\r?\n|$)/;
  let [at, status, lines]: [number, number, string] = [0, 0, ''];
  for (let match = head.exec(text); match !== null; match = head.exec(text.slice(at))) {
    [status, lines = ''] = [Number(match[1]), match[2]];
    at += match[0].length;
  }
  // 1xx announces an answer.
  if (status < 200)
    throw wrongUsage(
      `${name}: is no HTTP answer; its first line must be a status line, as \`curl -i\` prints it`,
    );
  const headers: Record<string, string[]> = {};
  for (const line of lines.split(/\r?\n/).filter(Boolean)) {
    const [, field, value = ''] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (field === undefined)
      throw wrongUsage(`${name}: is no HTTP answer: ${JSON.stringify(line)} is no header field`);
    (headers[field.toLowerCase()] ??= []).push(value);
  }
  const body = suites.decodeBody(bytes.subarray(at), headers['content-encoding']?.[0]);
  return { kind: 'answer', status, headers, ...body, sentAt: 0, receivedAt: 0, tookMs: 0 };
}
