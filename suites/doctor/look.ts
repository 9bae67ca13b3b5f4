import type { Check, Fixture } from '../../schemas/generated/types.ts';
import type { Answer } from '../answer.ts';
import type { Clock } from '../engine/clock.ts';
import type { Known } from '../known.ts';
import type { Asker } from './asker.ts';
import { judgeClock } from './clocks.ts';
import { bad, check, good, unknown, type Finding } from './finding.ts';
import { isStrange } from './interface.ts';
import { judgeLimits } from './limits.ts';
import type { Lines, Trust } from './lines.ts';
import {
  askAll,
  checkOf,
  dataQuestions,
  keylessQuestions,
  keyQuestions,
  type Asked,
  type Question,
} from './questions.ts';
import { reach } from './reach.ts';

export interface LookOptions {
  readonly target: URL;
  readonly fixture: Fixture;
  /** The same, seen from the partner whose key makes the calls. */
  readonly known: Known;
  readonly trust: Trust;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly lines: Lines;
}

/** What was seen, and by which answers. */
export interface Look {
  readonly checks: readonly Check[];
  readonly answers: readonly Answer[];
}

/**
 * Everything that the target itself is asked: the way to it, then whoever has no key, then the key under
 * test, then the data and the other keys. What cannot be asked is said to be unknown.
 *
 * @param stepMs what a step of the way may take now, in ms
 */
export async function look(options: LookOptions, asker: Asker, stepMs: () => number): Promise<Look> {
  const { fixture, known } = options;
  const way = await reach({ ...options, stepMs });
  const http = (finding: Finding) => [...way, check('reach', 'HTTP', finding)];
  if (way.some(({ outcome }) => outcome !== 'good'))
    return unheard(http(unknown('not tried')), 'not asked: the target cannot be reached');

  const [first, second] = keylessQuestions(known) as [Question, Question];
  const [{ reply }] = (await askAll([first], asker)) as [Asked];
  if (reply.kind === 'trouble')
    return unheard(http(bad(reply.words, silence(options))), 'not asked: there is no HTTP answer');

  const [keyUnderTest, ...otherKeys] = keyQuestions(fixture, known);
  const entry = await askAll([first, second, ...(keyUnderTest === undefined ? [] : [keyUnderTest])], asker);
  const isElsewhere = entry.every((asked) => asked.reply.kind === 'answer' && isStrange(asked.reply));
  const data = dataQuestions(fixture, known);
  const room = asker.roomBeside(data.map(({ request }) => request));
  const rest = isElsewhere ? [] : await askAll([...data, ...otherKeys.slice(0, room)], asker);
  const asked = [...entry, ...rest];
  const answers = answersTo(asked);
  const left = otherKeys.length + data.length - rest.length;
  return {
    answers,
    checks: [
      ...http(good(`${reply.status} after ${Math.round(reply.tookMs)} ms`)),
      ...asked.map(checkOf).toSorted((a, b) => areas.indexOf(a.area) - areas.indexOf(b.area)),
      ...(known.callerKeys.length > 0 ? [] : [check('keys', 'under test', keyMissing)]),
      ...(left === 0 ? [] : [notAsked(left, isElsewhere)]),
      check('clock', 'Date', judgeClock(answers)),
      check(
        'limits',
        '429',
        judgeLimits(answersTo(asked.filter(({ question }) => question.isOrdinary)), known),
      ),
    ],
  };
}

/** An answer counts once, whatever it answers. */
const answersTo = (asked: readonly Asked[]): readonly Answer[] => [
  ...new Set(asked.flatMap(({ reply }) => (reply.kind === 'answer' ? [reply] : []))),
];

/** In the order in which they are told. */
const areas: readonly Check['area'][] = ['reach', 'interface', 'keys', 'fixture'];

/** Without an answer, nothing else can be seen. */
function unheard(way: readonly Check[], why: string): Look {
  return { checks: [...way, check('interface', 'and all else', unknown(why))], answers: [] };
}

const keyMissing = bad(
  'the fixture has no active key of a partner, so next to nothing can be judged',
  'To apiKeys add { "key": "${NAME}", "partner": "…", "state": "active" }; the key is read from the environment variable.',
);

function notAsked(count: number, isElsewhere: boolean): Check {
  const words = isElsewhere ? 'this is plainly another service' : 'a look takes a few requests only';
  return check('keys', `${count} more`, unknown(`not asked: ${words}`));
}

/** What to do about a port that takes connections and says nothing that HTTP knows. */
function silence({ target }: LookOptions): string {
  return target.protocol === 'http:'
    ? 'See whether it is the port of the service, and whether it wants https://; --timeout gives an answer longer.'
    : 'See whether it is the port of the service; --timeout gives an answer longer.';
}
