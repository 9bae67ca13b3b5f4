import type { Conversation } from './conversation.ts';
import { isGood, type Facts } from './facts.ts';

/** A value that the server said: whether it is right, only the owner of the data knows. */
interface Said {
  readonly place: string;
  readonly value: (facts: Facts) => string | number | undefined;
  /** The facts with what the records have in its place. */
  readonly corrected: (facts: Facts, text: string) => Facts;
}

const said: readonly Said[] = [
  {
    place: 'users[0].date_joined',
    value: ({ user }) => user?.date_joined,
    corrected: ({ user, ...facts }, text) => ({ ...facts, user: { ...user!, date_joined: text } }),
  },
  ...(['amountInUsd', 'executedAt'] as const).map((field): Said => ({
    place: `deposits[0].${field}`,
    value: ({ deposit }) => deposit?.[field],
    corrected: ({ deposit, ...facts }, text) => ({
      ...facts,
      deposit: { ...deposit!, [field]: Number(text) },
    }),
  })),
];

/** What the server said, a line each, for those who can compare it. */
export const saidBy = (facts: Facts): readonly string[] =>
  said.flatMap(({ place, value }) => (value(facts) === undefined ? [] : [`${place}: ${value(facts)}`]));

/**
 * Asks what one's own records say where the server said something: a fixture that repeats the server's
 * mistake would find it right.
 */
export async function heldAgainstRecords(facts: Facts, talk: Conversation): Promise<Facts> {
  let held = facts;
  for (const { place, value, corrected } of said) {
    if (value(held) === undefined) continue;
    const question = `${place}: the server says ${value(held)}. Your own records? (Enter: the same) `;
    let words = question;
    for (;;) {
      const text = (await talk.ask(words)).trim();
      const next = text === '' ? held : corrected(held, text);
      if (isGood(partsOf(next))) {
        held = next;
        break;
      }
      talk.forget();
      words = `${text}: cannot stand there; the server's is of the right form\n${question}`;
    }
  }
  return held;
}

const partsOf = ({ user, deposit }: Facts) => ({
  ...(user === undefined ? {} : { users: [user] }),
  ...(deposit === undefined ? {} : { deposits: [deposit] }),
});
