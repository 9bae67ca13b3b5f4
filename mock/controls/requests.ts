import { METHODS } from 'node:http';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { splitTarget } from '../handler.ts';
import { clear, keptIn, shownEntry, shownLine, type JournalEntry, type JournalLine } from '../journal.ts';
import { addressedWorld, sandboxSeen, tellChange, wrongAt, type Sandbox, type Session } from '../session.ts';
import { keyNamed } from './data.ts';

/** Which requests to show. All that is given has to match. */
export interface RequestQuery {
  readonly method?: string | undefined;
  /** Path and query as sent. */
  readonly url?: string | undefined;
  readonly urlPath?: string | undefined;
  readonly endpoint?: Endpoint | undefined;
  /** A key as the client sends it, also with `~` and its world, or its name: `northwind/active`. */
  readonly key?: string | undefined;
  readonly status?: number | string | undefined;
  /** A part of the reason. */
  readonly reason?: string | undefined;
}

type Criterion = keyof RequestQuery;

const fits: Readonly<Record<Criterion, (line: JournalLine, value: string) => boolean>> = {
  method: ({ method }, value) => method === value,
  url: ({ target }, value) => target === value,
  urlPath: ({ target }, value) => splitTarget(target).path === value,
  endpoint: ({ endpoint }, value) => endpoint === value,
  key: ({ key }, value) => key === value,
  status: ({ status }, value) => `${status}` === value,
  reason: ({ reason }, value) => reason.includes(value),
};
export const criteria = Object.keys(fits) as readonly Criterion[];

/** What some criteria may be. Another value finds nothing, and a test that expects nothing would pass. */
type Choice = readonly [words: string, has: (value: string) => boolean];
const choices: Partial<Record<Criterion, Choice>> = {
  method: ['a method of HTTP, such as GET', (value) => METHODS.includes(value)],
  endpoint: [`one of ${Object.keys(endpoints).join(', ')}`, (value) => Object.hasOwn(endpoints, value)],
  status: ['a status from 100 to 599', (value) => /^[1-5]\d\d$/.test(value)],
};

/** The journal of a world. */
export interface RequestControls {
  /**
   * The last requests that fit, oldest first, each with the reason of its answer.
   *
   * @throws Refusal, 400 for a key, an endpoint, a method or a status that there is not
   */
  (query?: RequestQuery): readonly JournalEntry[];
  readonly clear: () => void;
}

export function requestsIn(session: Session, world: string): RequestControls {
  const find = (query: RequestQuery = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const wanted = given.map(([name, value]: [string, unknown]) => {
      const criterion = criteria.find((one) => one === name);
      if (criterion === undefined) throw wrongAt(name, `is unknown here; known are ${criteria.join(', ')}`);
      if (typeof value !== 'string' && typeof value !== 'number')
        throw wrongAt(name, 'must be a string or a number');
      const [words, has] = choices[criterion] ?? [];
      if (has?.(String(value)) === false) throw wrongAt(name, `must be ${words}`);
      return [criterion, String(value)] as const;
    });
    const asked = wanted.find(([name]) => name === 'key')?.[1];
    const { sandbox, key } = addressed(session, world, asked);
    return keptIn(sandbox.journal)
      .filter((kept) => {
        const line = shownLine(kept, session.redact);
        return wanted.every(([name, value]) => fits[name](line, name === 'key' ? key! : value));
      })
      .map((kept) => shownEntry(kept, session.redact));
  };
  return Object.assign(find, {
    clear: () => {
      const sandbox = sandboxSeen(session, world);
      clear(sandbox.journal);
      tellChange(session, sandbox, 'journal cleared');
    },
  });
}

/** The world to search, which a key may name as well, and the name of the key in its journal. */
function addressed(session: Session, world: string, asked: string | undefined) {
  const named = asked === undefined ? undefined : addressedWorld(session, `Bearer ${asked}`);
  if (named?.wrong !== undefined) throw wrongAt('key', `is not right: ${named.wrong}`);
  if (named !== undefined && world !== '' && world !== named.name)
    throw wrongAt('key', 'names another world than the call');
  const sandbox = sandboxSeen(session, named?.name ?? world);
  const key = named === undefined ? asked : named.authorization.slice('Bearer '.length);
  return { sandbox, key: key === undefined ? undefined : keyNamed(sandbox, key, 400).name };
}

/** Grades the clients of some worlds. The rules are loaded when somebody asks. */
export async function gradeOf({ options, redact }: Session, sandboxes: readonly Sandbox[]) {
  const { GRACE, scorecardOf } = await import('../scorecard.ts');
  return scorecardOf(
    sandboxes.flatMap(({ journal }) => keptIn(journal).map((kept) => shownLine(kept, redact))),
    GRACE + (options.delayMs ?? 0),
  );
}
