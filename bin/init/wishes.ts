import { Problem } from '../../schemas/problem.ts';
import { classifyUuid } from '../../suites/uuid.ts';
import type { CliContext } from '../cli-context.ts';
import { targetUrl } from '../values.ts';
import type { Conversation } from './conversation.ts';

/** The variable that holds the key, and that the fixture names in its place. */
export const KEY_VARIABLE = 'IB_API_KEY';

/** What is needed to begin: the server, the key, and what is known to be there. */
export interface Wishes {
  readonly url: string;
  readonly key: string;
  readonly member?: string;
  /** A deposit of that member. */
  readonly executed?: string;
}

/** The flags that answer a question. */
export interface Given {
  readonly url?: string | undefined;
  readonly member?: string | undefined;
  readonly executed?: string | undefined;
}

/** One thing to know: where it is given, how it is asked for, and what is wrong with an answer. */
interface Question {
  /** For messages: `--url`. */
  readonly source: string;
  readonly question: string;
  readonly isNeeded: boolean;
  readonly manner?: 'secret';
  /** @throws Problem with code `usage` */
  readonly check: (text: string) => void;
}

const questions = {
  url: {
    source: '--url',
    question: 'URL of the server ({base_url}): ',
    isNeeded: true,
    check: (text) => void targetUrl(text),
  },
  key: {
    source: KEY_VARIABLE,
    question: 'API key of the partner (is not shown, and goes into no file): ',
    isNeeded: true,
    manner: 'secret',
    check: (text) =>
      refuse(!/^[!-~]+$/.test(text), 'the key is none that fits into a header: visible ASCII without spaces'),
  },
  member: {
    source: '--member',
    question: 'user_id of a user under the IB (Enter: none): ',
    isNeeded: false,
    check: (text) => refuse(classifyUuid(text) !== 'v4', `--member ${text}: is not a UUID of version 4`),
  },
  executed: {
    source: '--executed',
    question: 'reference_id of an EXECUTED deposit of that user (Enter: none): ',
    isNeeded: false,
    check: (text) =>
      refuse(!['v4', 'other-version'].includes(classifyUuid(text)), `--executed ${text}: is not a UUID`),
  },
} as const satisfies Record<keyof Wishes, Question>;

/**
 * Gathers what is needed from flags and environment, and asks for what is missing where somebody can
 * be asked. A wrong answer is asked for again, a wrong flag is not.
 *
 * @param talk nobody is asked without it
 * @throws Problem with code `usage` for what is wrong or missing, or as the conversation ends
 */
export async function gather(
  { url, member, executed }: Given,
  { env }: Pick<CliContext, 'env'>,
  talk: Conversation | undefined,
): Promise<Wishes> {
  const given = { url, key: env[KEY_VARIABLE] === '' ? undefined : env[KEY_VARIABLE], member, executed };
  // What was typed wrong is told before anything is asked.
  for (const [name, text] of Object.entries(given))
    if (text !== undefined) questions[name as keyof Wishes].check(text);
  const answer = async (name: keyof Wishes) => given[name] ?? (await asked(questions[name], talk));
  const found = { url: await answer('url'), key: await answer('key'), member: await answer('member') };
  refuse(
    found.member === undefined && executed !== undefined,
    '--executed needs --member: a deposit is of a user',
  );
  const deposit = found.member === undefined ? undefined : await answer('executed');
  return {
    url: found.url!,
    key: found.key!,
    ...(found.member === undefined ? {} : { member: found.member }),
    ...(deposit === undefined ? {} : { executed: deposit }),
  };
}

/** @returns undefined where it is left out */
async function asked(
  { source, question, isNeeded, check, manner }: Question,
  talk: Conversation | undefined,
): Promise<string | undefined> {
  if (talk === undefined) {
    refuse(isNeeded, `${source} is missing, and there is nobody to ask`);
    return undefined;
  }
  let words = question;
  for (;;) {
    const text = (await talk.ask(words, manner)).trim();
    if (text === '' && !isNeeded) return undefined;
    try {
      check(text);
      return text;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      talk.forget();
      words = `${error.message.replace(/^--\S+ /, '')}\n${question}`;
    }
  }
}

function refuse(isWrong: boolean, words: string): void {
  if (isWrong) throw new Problem('usage', words);
}
