import type { Check, Fixture } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { lookupOf, userStatus, type Request } from '../request.ts';
import type { Asker } from './asker.ts';
import { bad, check, unknown, type Finding } from './finding.ts';
import { keyless } from './interface.ts';
import { judgeKey } from './keys.ts';
import { specimens } from './sample.ts';

/** One thing that a request may show. */
export interface Question {
  readonly area: Check['area'];
  readonly subject: string;
  readonly request: Request;
  readonly judge: (answer: Answer) => Finding;
  /** Whether it speaks of the limits of others too: a key may have its own. */
  readonly isOrdinary: boolean;
}

const as = (key: KnownKey) => ({ credential: { as: 'key', key } as const });

/** What each endpoint says to whoever has no key. */
export const keylessQuestions = (known: Known): readonly Question[] =>
  (['user-status', 'deposit-check'] as const).map((endpoint) => ({
    area: 'interface',
    subject: endpoint,
    request: lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } }),
    judge: (answer) => keyless(endpoint, answer),
    isOrdinary: true,
  }));

/** Whether the target holds what the fixture says, asked with the key under test. */
export const dataQuestions = (fixture: Fixture, known: Known): readonly Question[] =>
  known.callerKeys.slice(0, 1).flatMap((key) =>
    specimens(fixture, known).map(({ place, request, judge }) => ({
      area: 'fixture',
      subject: place,
      request: { ...request, ...as(key) },
      judge,
      isOrdinary: true,
    })),
  );

/** Whether each key is treated as the fixture says: the key under test first, then one of each kind, then the others. */
export function keyQuestions(fixture: Fixture, known: Known): readonly Question[] {
  const kinds = new Set<string>();
  const rankOf = (name: string, kind: string) => {
    const isNew = !kinds.has(kind);
    kinds.add(kind);
    return name === known.callerKeys[0]?.name ? 0 : isNew ? 1 : 2;
  };
  const id = findableId('user-status', known);
  return (fixture.apiKeys ?? [])
    .map((apiKey, index) => {
      const key = known.everyKey[index]!;
      const question: Question = {
        area: 'keys',
        subject: key.name,
        request: userStatus(id, as(key)),
        judge: (answer) => judgeKey(apiKey, `apiKeys[${index}]`, answer),
        isOrdinary: apiKey.limits === undefined,
      };
      return { question, rank: rankOf(key.name, `${apiKey.state} ${apiKey.partner === null}`) };
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ question }) => question);
}

/** A question, and what came of its request. */
export interface Asked {
  readonly question: Question;
  readonly reply: Reply;
}

/** Asks all at once. */
export const askAll = (questions: readonly Question[], { ask }: Asker): Promise<readonly Asked[]> =>
  Promise.all(questions.map(async (question) => ({ question, reply: await ask(question.request) })));

/** What an asked question comes to. */
export function checkOf({ question: { area, subject, judge }, reply }: Asked): Check {
  return check(area, subject, reply.kind === 'answer' ? judge(reply) : unanswered(reply));
}

/** Whose doing it is that there is no answer. */
function unanswered({ code, words }: Trouble): Finding {
  return code === 'timeout' || code === 'network'
    ? bad(words, 'See why the target leaves this request without an answer; --timeout gives it longer.')
    : unknown(words);
}
