import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureUser } from '../../schemas/generated/types.ts';
import { summary, type Answer } from '../answer.ts';
import { expectError, fieldsOf, expectExecuted, expectMember, expectNotMember } from '../expectations.ts';
import type { FixtureDeposit, Known } from '../known.ts';
import { accessOf, authorizationOf, parameterOf, type Parameter } from './lookup.ts';
import type { Request } from '../request.ts';
import { failed, pass, fixtureOutdated, type Expectation, type Verdict } from '../verdict.ts';

/** The outcomes of a lookup (Endpoints). */
export type Outcome = 'member' | 'not-member' | 'executed' | 'not-found' | 'invalid' | 'unauthorized';

/** A correct answer, and the requirement that it belongs to. */
export interface Correct {
  readonly outcome: Outcome;
  readonly id: string;
}

/** The correct answers to a lookup. */
export interface Expected {
  readonly endpoint: Endpoint;
  /** The correct answers. There are several if the interface is silent. The first is the plain reading. */
  readonly correct: readonly Correct[];
  /** Id of the requirement that this spelling of an id must be accepted. */
  readonly spelling?: string;
  /** The answer that a recommended requirement asks for. */
  readonly advised?: Correct;
  /** The entity of the id, if the answer may show it. */
  readonly user?: FixtureUser;
  readonly deposit?: FixtureDeposit;
  /** Any 4xx is correct. If `mayBeRead`, so is an answer that reads the id. */
  readonly hostile?: { readonly id: string; readonly mayBeRead: boolean };
  /** The key is in the query, a cookie, another header or the body. Any refusal is correct. */
  readonly isMisplaced: boolean;
  /** Whether the key must be accepted. */
  readonly isKeyValid: boolean;
  /** Id of the requirement that another partner's key shows no data of the partner under test. */
  readonly scope?: string;
  /** Whether the plain reading shows a member or an EXECUTED deposit. */
  readonly isFound: boolean;
}

/** A cache: each lookup is judged several times, and in many runs of a self-test. */
const cache = new WeakMap<Known, Map<string, Expected | undefined>>();
const MAX_CACHED = 20_000;

/**
 * The correct answers to a lookup.
 *
 * @returns undefined if the interface says nothing about the request
 */
export function expectedOf(known: Known, request: Request): Expected | undefined {
  const { endpoint, method, target, misplaced, credential } = request;
  const authorization = authorizationOf(credential, known.callerKeys[0]);
  const name = [endpoint, method, target, misplaced?.key, authorization].join('\n');
  const before = cache.get(known) ?? new Map<string, Expected | undefined>();
  cache.set(known, before);
  if (!before.has(name)) {
    if (before.size >= MAX_CACHED) before.clear();
    before.set(name, expectationFor(known, request));
  }
  return before.get(name);
}

function expectationFor(known: Known, request: Request): Expected | undefined {
  const { endpoint } = request;
  const parameter = parameterOf(endpoint, request.target);
  if (request.method !== 'GET' || parameter === undefined || known.callerKeys.length === 0) return undefined;
  const access = accessOf(known, request);
  const isMisplaced = request.misplaced !== undefined;
  const isKeyValid = access.key !== undefined && !access.mayBeRefused;
  const common = { endpoint, isMisplaced, isKeyValid, isFound: false };
  if ('isHostile' in parameter)
    return {
      ...common,
      correct: [],
      hostile: { id: `invalid-uuid/${endpoint}/hostile`, mayBeRead: isKeyValid && parameter.mayBeRead },
    };
  if (access.key === undefined) return { ...common, correct: refusals(endpoint, access.refusal, parameter) };
  const found = viewOf(known, endpoint, access.key.partner, parameter);
  const correct = [
    ...acceptable(endpoint, parameter, found.correct),
    ...(access.mayBeRefused ? [unauthorized(endpoint, 'malformed')] : []),
  ];
  const isFound = found.correct[0]!.outcome === 'member' || found.correct[0]!.outcome === 'executed';
  const { isEncoded, isAlone, invalid: why } = parameter;
  const spelled = isFound && isEncoded && isAlone && why === undefined && isKeyValid;
  return {
    ...common,
    isFound,
    correct,
    ...(parameter.spelling === undefined ? {} : { spelling: `valid/${endpoint}/${parameter.spelling}` }),
    ...(parameter.invalid === 'alternative-spelling' && isKeyValid ? { advised: correct[0]! } : {}),
    ...(spelled ? { advised: { ...correct[0]!, id: `valid/${endpoint}/percent-encoding` } } : {}),
    ...found.more,
  };
}

const unauthorized = (endpoint: Endpoint, refusal: string): Correct => ({
  outcome: 'unauthorized',
  id: `auth/${endpoint}/${refusal}`,
});
const invalid = (endpoint: Endpoint, why: string): Correct => ({
  outcome: 'invalid',
  id: `invalid-uuid/${endpoint}/${why}`,
});

/** 401, and 400 if the parameter may be refused too: either may come first (Errors: the order is not shown). */
function refusals(endpoint: Endpoint, refusal: string, parameter: Parameter): readonly Correct[] {
  const { invalid: why, isOpen } = parameter;
  return [
    unauthorized(endpoint, refusal),
    ...(why !== undefined || isOpen ? [invalid(endpoint, why ?? 'malformed')] : []),
  ];
}

/** Correct answers to an accepted key. 400 comes first if the parameter is invalid. */
function acceptable(
  endpoint: Endpoint,
  { invalid: why, isOpen, isEncoded, id }: Parameter,
  finding: readonly Correct[],
): readonly Correct[] {
  if (why === 'alternative-spelling')
    return [invalid(endpoint, why), ...finding, { outcome: absent(endpoint), id: finding[0]!.id }];
  if (why !== undefined || id === undefined) return [invalid(endpoint, why ?? 'malformed')];
  const main = finding[0]!;
  return [
    ...finding,
    ...(isOpen ? [invalid(endpoint, 'malformed')] : []),
    // A server that does not decode looks up another id.
    ...(isEncoded ? [{ outcome: absent(endpoint), id: main.id } as const] : []),
  ];
}

const absent = (endpoint: Endpoint): Outcome => (endpoint === 'user-status' ? 'not-member' : 'not-found');

interface PartnerView {
  readonly correct: readonly Correct[];
  readonly more?: Pick<Expected, 'user' | 'deposit' | 'scope'>;
}

/** What a partner sees for an id (GET user-status, 200; GET deposit-check, 200 and 404; States). */
function viewOf(known: Known, endpoint: Endpoint, partner: string, { id = '' }: Parameter): PartnerView {
  const hidden = (row: string): PartnerView => ({
    correct: [{ outcome: absent(endpoint), id: row }],
  });
  const isCaller = partner === known.partner;
  const scope = `foreign-ib/${endpoint}/follows-key`;
  const deposit = endpoint === 'deposit-check' ? known.depositById.get(id) : undefined;
  const user = known.userById.get(deposit?.user_id.toLowerCase() ?? (endpoint === 'user-status' ? id : ''));
  if (user === undefined) return hidden(`foreign-ib/${endpoint}/unknown`);
  if (user.partner !== partner)
    return {
      ...hidden(`foreign-ib/${endpoint}/other-ib`),
      ...(user.partner === known.partner ? { more: { scope } } : {}),
    };
  if (deposit === undefined)
    return {
      correct: [{ outcome: 'member', id: isCaller ? 'valid/user-status/member' : scope }],
      more: { user },
    };
  const executed = { outcome: 'executed', id: isCaller ? 'valid/deposit-check/executed' : scope } as const;
  if (deposit.state === 'EXECUTED') return { correct: [executed], more: { deposit } };
  const { correct } = hidden(`pending/deposit-check/${deposit.state}`);
  return 'becomes' in deposit && deposit.becomes !== undefined
    ? { correct: [...correct, executed] }
    : { correct };
}

const expectations: Readonly<Record<Outcome, (endpoint: Endpoint) => Expectation>> = {
  member: () => expectMember,
  'not-member': () => isNotMember,
  executed: () => expectExecuted,
  'not-found': () => expectError('deposit-check', 404),
  invalid: (endpoint) => expectError(endpoint, 400),
  unauthorized: (endpoint) => expectError(endpoint, 401),
};

/** A missing date is a wrong shape, which another requirement checks. */
function isNotMember(answer: Answer): Verdict {
  const verdict = expectNotMember(answer);
  const date = fieldsOf(answer)?.['date_joined'] ?? null;
  if (verdict.kind !== 'passed' || date === null) return verdict;
  return failed('value', '200 with "is_under_ib": false, "date_joined": null', summary(answer));
}

/** What an answer shows about a requirement. */
export interface Finding {
  readonly id: string;
  readonly verdict: Verdict;
}

/** Judges an answer by the model. The first finding is about the requirement that the lookup is made for. */
export function judgeLookup(expected: Expected, answer: Answer): readonly Finding[] {
  const { endpoint, correct, hostile, spelling, scope, advised } = expected;
  if (hostile !== undefined) return [{ id: hostile.id, verdict: refusesHostile(answer, hostile.mayBeRead) }];
  const main = correct[0]!;
  if (expected.isMisplaced) {
    const isAccepted = answer.status < 400 || answer.status === 404;
    return [{ id: main.id, verdict: isAccepted ? failed('status', '401', summary(answer)) : pass }];
  }
  const match = correct.find(({ outcome }) => expectations[outcome](endpoint)(answer).kind === 'passed');
  if (match === undefined) {
    const { id, outcome } = closest(expected, answer);
    return [{ id, verdict: expectations[outcome](endpoint)(answer) }];
  }
  const isRead = spelling !== undefined && match.outcome !== 'unauthorized';
  const ids = [main.id, match.id, ...(isRead ? [spelling] : []), ...(scope === undefined ? [] : [scope])];
  // If the deposit is already EXECUTED, nobody saw whether it was hidden before.
  const isOutdated = main.outcome === 'not-found' && match.outcome === 'executed';
  return [...new Set(ids)]
    .map((id): Finding => ({ id, verdict: isOutdated && id === main.id ? fixtureOutdated : pass }))
    .concat(
      advised === undefined
        ? []
        : [{ id: advised.id, verdict: expectations[advised.outcome](endpoint)(answer) }],
    );
}

/** The correct answer that a wrong one comes closest to, and the requirement that it breaks. */
function closest({ endpoint, correct, spelling, isFound, scope }: Expected, answer: Answer): Correct {
  const main = correct[0]!;
  const status = effectiveStatus(answer, main);
  const sameStatus = correct.find(({ outcome }) => statusOf[outcome] === status);
  const { outcome } = sameStatus ?? main;
  if (spelling !== undefined && (status === 400 || (isFound && status !== 401)))
    return { outcome, id: spelling };
  if (
    scope !== undefined &&
    (expectMember(answer).kind === 'passed' || expectExecuted(answer).kind === 'passed')
  )
    return { outcome, id: scope };
  // The message identifies an error even with a wrong status.
  const words = fieldsOf(answer)?.['error'];
  const messages: Readonly<Record<number, string>> = endpoints[endpoint].messages;
  const sameWords =
    words === undefined ? undefined : correct.find((one) => messages[statusOf[one.outcome]] === words);
  // If the id may be read or refused, an answer that shows data has read it.
  const read = correct.find((one) => one.outcome !== 'invalid' && one.outcome !== 'unauthorized');
  return sameWords ?? sameStatus ?? (status < 300 ? read : undefined) ?? main;
}

/** 422 counts as 400, and 403 as 401 unless it may hide data of others. */
function effectiveStatus({ status }: Answer, { outcome }: Correct): number {
  if (status === 403 && outcome !== 'not-member' && outcome !== 'not-found') return 401;
  return status === 422 ? 400 : status;
}

const statusOf: Readonly<Record<Outcome, number>> = {
  member: 200,
  'not-member': 200,
  executed: 200,
  'not-found': 404,
  invalid: 400,
  unauthorized: 401,
};

/** A front end may answer 414 or 431. */
function refusesHostile(answer: Answer, mayBeRead: boolean): Verdict {
  const { status } = answer;
  const isRefused = status >= 400 && status < 500;
  return isRefused || (mayBeRead && status < 400)
    ? pass
    : failed('status', 'a status from 400 to 499', summary(answer));
}
