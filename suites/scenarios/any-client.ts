import { endpointNames } from '../../schemas/endpoints.ts';
import { header, summary, type Answer } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import { sameAnswer } from '../rules/expectations.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking } from '../rules/scenario-context.ts';
import { failed, inconclusive, pass, unanswered, type Verdict } from '../rules/verdict.ts';
import { isScarce } from './changing.ts';

/** Under a limit with a long window, so many header fields are tried. */
const FEW_FIELDS = 3;

/**
 * Header fields of clients (RFC 9110 10.1.5, 12.5.3). Lookups of the run have none of them. A tag that the target sent
 * comes besides.
 */
const fields: readonly (readonly [name: string, value: string])[] = [
  ['accept-encoding', 'gzip'],
  ['user-agent', 'python-requests/2.32.3'],
  ['accept-encoding', 'identity'],
  ['user-agent', 'curl/8.14.1'],
  ['user-agent', 'Java/21.0.7'],
  ['user-agent', 'Go-http-client/1.1'],
];

const WRONG = inconclusive('depends', 'not checked because the plain lookup got a wrong answer');

/** Judges an answer to a lookup with another header field, by the answer without it. */
function judge(own: Answer, [name, value]: readonly [string, string], answer: Answer): Verdict {
  if (name === 'if-none-match' && answer.status === 304) return pass;
  const coding = header(answer, 'content-encoding')?.toLowerCase().replace(/^x-/, '') ?? 'identity';
  if (name === 'accept-encoding' && !['identity', value].includes(coding))
    return failed(
      'coding',
      `Content-Encoding: ${value}, or none`,
      `Content-Encoding: ${coding}, which the client does not read`,
    );
  const same = sameAnswer(own, answer);
  return same.kind === 'failed'
    ? failed('client', `the answer that comes without ${name}: ${value}: ${summary(own)}`, summary(answer))
    : same;
}

/**
 * Asks as other clients do. A difference counts if the lookup with the field is answered so again, and the one without
 * it as before.
 */
export async function judgeAnyClient(context: Asking, known: Known): Promise<ScenarioResult> {
  const { send, verdictsOn } = context;
  let cases = 0;
  for (const endpoint of endpointNames) {
    const plain = lookupOf(endpoint, findableId(endpoint, known));
    const [own] = await send(plain);
    if (own!.kind === 'trouble') return { finding: unanswered(own!), request: plain, reply: own! };
    if (verdictsOn(plain, own!).some(({ kind }) => kind === 'failed')) return { finding: WRONG };
    const tag = header(own!, 'etag');
    const tried = fields.slice(0, isScarce(context, endpoint) ? FEW_FIELDS : undefined);
    if (tag !== undefined) tried.push(['if-none-match', tag]);
    for (const field of tried) {
      const request: Request = { ...plain, headers: { [field[0]]: field[1] } };
      for (const times of [1, 2]) {
        const [reply] = await send(request);
        if (reply!.kind === 'trouble') return { finding: unanswered(reply!), request, reply: reply! };
        cases++;
        const finding = judge(own!, field, reply!);
        if (finding.kind !== 'failed') break;
        if (times === 2) return { finding, request, reply: reply!, cases };
        const [again] = await send(plain);
        if (again?.kind !== 'answer' || sameAnswer(own!, again).kind === 'failed') break;
      }
    }
  }
  return { finding: pass, cases };
}
