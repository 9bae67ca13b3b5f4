import type { Fixture } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { checkFixture } from '../../schemas/fixture.ts';
import { Refusal, wrongAt } from '../session.ts';

/**
 * A fixture, or a part of one, read as a file would be.
 *
 * @param within the place in that fixture at which the body stands, such as `deposits[0]`
 * @throws Refusal, 400 with the first place that is wrong
 */
export function readPart(fixture: unknown, within = ''): Fixture {
  try {
    return checkFixture(fixture, '', {});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error.message.split('\n').map((line) => withoutPlace(line.replace(/^: /, ''), within));
    const [, place = ''] = /^([\w$.[\]-]+) (?:is|lacks|has|needs)\b/.exec(problems[0] ?? '') ?? [];
    throw problems.length === 1 && place === ''
      ? wrongAt('', problems[0] ?? '')
      : new Refusal(400, problems.join('\n'), place === '' ? {} : { place });
  }
}

const withoutPlace = (problem: string, within: string) =>
  within === '' || !problem.startsWith(within)
    ? problem
    : problem.slice(within.length).replace(/^ /, 'the body ').replace(/^\./, '');
