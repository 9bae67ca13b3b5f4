import type { Heard } from './connection.ts';
import type { Asked, Expected } from './oracle.ts';
import type { Round } from './rounds.ts';

/** A request with what should have been answered, and what was. */
export interface Answered {
  readonly asked: Asked;
  readonly expected: Expected;
  readonly heard: Heard | 'lost';
}

const limited = {
  'user-status': 'Too many failed lookups. Please try again later.',
  'deposit-check': 'TOO_MANY_REQUESTS',
} as const;

/** Says of a round what was answered otherwise than the fixture has it; empty where all is well. */
export function wrongOf(round: Round, answers: readonly Answered[]): readonly string[] {
  return [
    ...answers.flatMap((answer) => {
      const wrong = wrongAnswer(round, answer);
      return wrong === undefined ? [] : [`${round.name}: ${shown(answer)}: ${wrong}`];
    }),
    ...wrongCounts(round, answers),
    ...wrongPolls(round, answers),
  ];
}

function wrongAnswer({ instead, most }: Round, { asked, expected, heard }: Answered): string | undefined {
  // Nothing befalls who is not let in.
  const isLetIn = expected.counts || expected.status === 200;
  if (heard === 'lost') return isLetIn && instead.includes('lost') ? undefined : 'there is no answer';
  const { status, body } = heard;
  const { becomes } = expected;
  if (status === expected.status && body === expected.body) return undefined;
  if (status === 200 && becomes !== undefined && body.startsWith(becomes.start)) return undefined;
  if (!isLetIn || !instead.includes(status)) return `${expected.status} ${expected.body}`;
  if (asked.method === 'HEAD') return body === '' ? undefined : 'a body for HEAD';
  const isLimiter =
    most !== undefined && body !== JSON.stringify({ error: limited[asked.path as 'user-status'] });
  return isLimiter || !/^\{"error":"[^"]+"\}$/.test(body) ? 'another error' : undefined;
}

/** Of what a limiter counts, exactly so many pass. */
function wrongCounts({ name, most }: Round, answers: readonly Answered[]): readonly string[] {
  if (most === undefined) return [];
  return [...grouped(answers, ({ asked: { key, path } }) => `${key} ${path}`)].flatMap(([who, all]) => {
    const counted = all.filter(({ expected }) => expected.counts);
    const passed = counted.filter(({ heard }) => heard !== 'lost' && heard.status !== 429).length;
    const right = Math.min(most, counted.length);
    return passed === right ? [] : [`${name}: ${who}: ${passed} passed instead of ${right}`];
  });
}

/** Exactly so many polls find a deposit pending: where each answer arrives, and the world lasts. */
function wrongPolls({ name, instead, worlds }: Round, answers: readonly Answered[]): readonly string[] {
  if (worlds > 0 || instead.includes('lost')) return [];
  const polls = answers.filter(
    ({ expected, heard }) => expected.becomes && heard !== 'lost' && [200, 404].includes(heard.status),
  );
  return [...grouped(polls, ({ expected }) => expected.becomes!.id)].flatMap(([id, all]) => {
    const pending = all.filter(({ heard }) => heard !== 'lost' && heard.status === 404).length;
    const right = Math.min(all[0]!.expected.becomes!.afterPolls, all.length);
    const times = new Set(
      all.flatMap(({ heard }) => (heard !== 'lost' && heard.status === 200 ? heard.body : [])),
    );
    times.delete('');
    return pending === right && times.size <= 1
      ? []
      : [`${name}: ${id}: ${pending} polls found it pending instead of ${right}; ${times.size} executions`];
  });
}

function grouped<Item>(
  items: readonly Item[],
  by: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(by(item));
    if (group === undefined) groups.set(by(item), [item]);
    else group.push(item);
  }
  return groups;
}

function shown({ asked, heard }: Answered): string {
  const answer = heard === 'lost' ? heard : `${heard.status} ${heard.body}`;
  return `${JSON.stringify(asked).slice(0, 300)} → ${answer.slice(0, 200)}`;
}
