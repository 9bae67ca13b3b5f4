import type { Reply, Trouble } from '../answer.ts';
import type { Known } from '../catalogue/known.ts';
import type { Request } from '../request.ts';
import type { Scenario } from '../catalogue/requirement.ts';
import type { Context } from '../scenario-context.ts';
import { inconclusive, observed, type Observation, type Verdict } from '../catalogue/verdict.ts';

type ObservedRow = Omit<Scenario, 'kind' | 'level' | 'run'>;

/** A scenario that records what a target does where the interface is silent. It never fails. */
export const observing = ({
  run,
  ...spec
}: ObservedRow & {
  readonly run: (context: Context, known: Known) => Promise<Observation | Verdict>;
}): Scenario => ({
  ...spec,
  kind: 'scenario',
  level: 'observed',
  run: async (context, known) => {
    let unsent: Trouble | undefined;
    const send: Context['send'] = async (...requests) => {
      const replies = await context.send(...requests);
      unsent ??= replies.find(isUnsent);
      return replies;
    };
    const finding = await run({ ...context, send }, known);
    const nothingSent = finding.kind === 'observed' && unsent !== undefined;
    return { finding: nothingSent ? inconclusive(unsent!.code, unsent!.words) : finding };
  },
});

/** Whether a request was not sent. A timeout or a reset is behaviour of the target. */
const isUnsent = (reply: Reply): reply is Trouble =>
  reply.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network';

/** The status of a reply, or why there is none. */
export const statusOf = (reply: Reply) => (reply.kind === 'answer' ? reply.status : reply.words);

/** Records how each of several named requests is answered. */
export const observingEach = ({
  requests: requestsOf,
  show = (reply) => String(statusOf(reply)),
  ...row
}: ObservedRow & {
  readonly requests: (known: Known) => readonly (readonly [string, Request])[];
  readonly show?: (reply: Reply) => string | number;
}): Scenario =>
  observing({
    ...row,
    run: async ({ send }, known) => {
      const requests = requestsOf(known);
      const replies = await send(...requests.map(([, request]) => request));
      const seen = requests.map(([name], at) => [name, show(replies[at]!)] as const);
      return observed(seen.map(([name, text]) => `${name}: ${text}`).join(', '), Object.fromEntries(seen));
    },
  });
