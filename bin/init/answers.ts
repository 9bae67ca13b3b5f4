import { wrongUsage, type Problem } from '../../schemas/problem.ts';
import { classifyUuid } from '../../suites/model/uuid.ts';
import type { CliContext, Prompter } from '../cli-context.ts';
import { parseUrl } from '../url-and-headers.ts';

/** The environment variable with the key. The fixture contains its name instead of the key. */
export const KEY_VARIABLE = 'IB_API_KEY';

export interface Answers {
  readonly url: string;
  readonly key: string;
  /** user_id of a user under the IB. */
  readonly member: string | undefined;
  /** reference_id of an EXECUTED deposit of that user. */
  readonly executed: string | undefined;
}

interface Question {
  /** The flag or variable with the answer. */
  readonly source: string;
  readonly message: string;
  readonly isOptional?: boolean;
  readonly isSecret?: boolean;
  /** Returns the problem of an invalid answer. */
  readonly problem: (text: string) => string | undefined;
}

const questions: Readonly<Record<keyof Answers, Question>> = {
  url: {
    source: '--url',
    message: 'URL of the server ({base_url})',
    problem: (text) => {
      try {
        return void parseUrl(text);
      } catch (error) {
        return (error as Problem).message;
      }
    },
  },
  key: {
    source: KEY_VARIABLE,
    message: 'API key of the partner (is not shown, and is written to no file)',
    isSecret: true,
    problem: (text) =>
      /^[!-~]+$/.test(text)
        ? undefined
        : 'a header cannot contain this key: use visible ASCII without spaces',
  },
  member: {
    source: '--member',
    message: 'user_id of a user under the IB',
    isOptional: true,
    problem: (text) => (classifyUuid(text) === 'v4' ? undefined : `${text}: is not a UUID of version 4`),
  },
  executed: {
    source: '--executed',
    message: 'reference_id of an EXECUTED deposit of that user',
    isOptional: true,
    problem: (text) =>
      ['v4', 'other-version'].includes(classifyUuid(text)) ? undefined : `${text}: is not a UUID`,
  },
};

/**
 * Takes answers from flags and the environment, and asks for missing ones.
 *
 * @param prompter undefined without a terminal
 * @throws Problem with code `usage` for an invalid or missing answer, `interrupted` on Ctrl-C
 */
export async function collectAnswers(
  flags: { readonly [Name in Exclude<keyof Answers, 'key'>]: string | undefined },
  env: CliContext['env'],
  prompter: Prompter | undefined,
): Promise<Answers> {
  const given = { ...flags, key: env[KEY_VARIABLE] || undefined };
  for (const [name, { source, isSecret, problem }] of Object.entries(questions)) {
    const text = given[name as keyof Answers];
    const found = text === undefined ? undefined : problem(text);
    if (found !== undefined) throw wrongUsage(isSecret ? found : `${source} ${found}`);
  }
  const answerTo = async (name: keyof Answers) => given[name] ?? (await ask(questions[name], prompter));
  const required = { url: (await answerTo('url'))!, key: (await answerTo('key'))! };
  const member = await answerTo('member');
  if (member === undefined && given.executed !== undefined)
    throw wrongUsage('--executed needs --member: a deposit belongs to a user');
  return { ...required, member, executed: member === undefined ? undefined : await answerTo('executed') };
}

async function ask(
  { source, message, isOptional = false, isSecret = false, problem }: Question,
  prompter: Prompter | undefined,
): Promise<string | undefined> {
  if (prompter === undefined && isOptional) return undefined;
  if (prompter === undefined)
    throw wrongUsage(`${source} is missing, and there is no terminal to ask for it`);
  const text = await prompter.ask({
    message: isOptional ? `${message} (Enter: none)` : message,
    isSecret,
    problem: (answer) => (isOptional && answer === '' ? undefined : problem(answer)),
  });
  return text === '' ? undefined : text;
}
