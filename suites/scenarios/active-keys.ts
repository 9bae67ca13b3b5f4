import type { Endpoint } from '../../schemas/endpoints.ts';
import { summary, type Reply } from '../answer.ts';
import { evenSample, findableId, idSeenBy } from '../inputs/uuids.ts';
import { lookupOf } from '../request.ts';
import type { Scenario } from '../catalogue/requirement.ts';
import { isScarce } from './changing.ts';
import { failed, judgeReply, pass, type Verdict } from '../catalogue/verdict.ts';

/** Maximum number of keys of the partner under test, and of others. */
const MAX_KEYS = 10;

/**
 * Asks with each active key of the fixture for what its partner sees, and for what the partner under test sees. Rows
 * about lookups judge the data: keys of different partners may see too much, or in another unit.
 */
export const judgeActiveKeys =
  (endpoint: Endpoint): Scenario['run'] =>
  async (context, known) => {
    const { send } = context;
    // Under a limit with a long window, each counted lookup is missing later on.
    const isFew = isScarce(context, endpoint);
    const keys = [known.callerKeys, known.otherKeys].flatMap((some) => evenSample(some, MAX_KEYS));
    let cases = 0;
    let lost: Verdict | undefined;
    for (const key of keys) {
      const own = idSeenBy(key, endpoint, known);
      const ids = new Set([own, ...(isFew ? [] : [findableId(endpoint, known).toLowerCase()])]);
      for (const id of ids) {
        const request = lookupOf(endpoint, id, { credential: { as: 'key', key } });
        const [reply] = (await send(request)) as [Reply];
        const expected = `an answer for ${key.name}, which the fixture calls active: never 401`;
        const finding = judgeReply(reply, (answer) =>
          answer.status === 401 ? failed('status', expected, summary(answer)) : pass,
        );
        if (finding.kind === 'failed') return { finding, request, reply, cases: cases + 1 };
        if (finding.kind === 'passed') cases++;
        else lost ??= finding;
      }
    }
    return { finding: cases === 0 ? (lost ?? pass) : pass, cases };
  };
