import type { Levels, Origin } from '../model/factors.ts';
import { defined } from '../../schemas/defined.ts';
import { endpoints } from '../../schemas/endpoints.ts';
import { NOT_SENT, type Answer, type Reply, type Trouble } from '../answer.ts';
import { fieldsOf } from '../expectations.ts';
import type { Known } from '../known.ts';
import { expectedOf, judgeLookup, type Expected, type Finding } from '../model/model.ts';
import { authorizationOf } from '../model/lookup.ts';
import { originOf } from '../model/path.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Exchange, Rule } from '../requirement.ts';
import { failed, pass, inconclusive, type Verdict } from '../verdict.ts';
import type { Result } from './record.ts';

/** The result of a rule or a monitor. */
export interface Judgement extends Result {
  readonly verdict: Verdict;
}

/** A wrong answer. */
export interface Failure {
  readonly verdict: Verdict & { readonly kind: 'failed' };
  readonly exchange: Exchange;
  readonly origin?: Origin;
}

export type Judge = ReturnType<typeof createJudge>;

interface State {
  cases: number;
  failures: Failure[];
  /** 401 for a key that must be accepted. Counts only if the key works elsewhere. */
  refusals: Failure[];
  unanswered?: Unanswered;
  /** The first answer that decides nothing. Counts only if no answer decides. */
  unclear?: Judgement;
}

interface Unanswered extends Exchange {
  readonly reply: Trouble;
}

type OtherRules = (endpoint: string, levels: Levels | undefined) => readonly string[];

const ofSpelling: OtherRules = (endpoint, levels) => [
  plainRule(endpoint, levels),
  ...(levels !== undefined && levels['id version'] !== '4' ? [`valid/${endpoint}/any-uuid-version`] : []),
];

/**
 * Rules about one odd property of a lookup, and the rules to check first. If one of these fails in the same aspect,
 * the failure belongs to it.
 */
const checkedFirst: Readonly<Record<string, OtherRules>> = {
  'uuid-case': ofSpelling,
  'percent-encoding': ofSpelling,
  'any-uuid-version': (endpoint, levels) => [plainRule(endpoint, levels)],
  'header-only': (endpoint) => [`auth/${endpoint}/missing`],
};

const plainRule = (endpoint: string, levels: Levels | undefined) => {
  if (levels?.key === "another partner's") return `foreign-ib/${endpoint}/follows-key`;
  return endpoint === 'user-status' ? 'valid/user-status/member' : 'valid/deposit-check/executed';
};

const MAX_FAILURES = 5;

/** A name for the lookup. Headers that do not authenticate do not make it another lookup. */
function nameOf(request: Request, { callerKeys }: Known): string {
  const { credential, misplaced, body, target } = request;
  if (misplaced !== undefined || body !== undefined) return fingerprint(request);
  return `${authorizationOf(credential, callerKeys[0])} ${target}`;
}

/** Whether the answer comes from a rate limiter, even with a wrong status. */
const isLimited = ({ endpoint }: Request, answer: Answer) =>
  answer.status === 429 || fieldsOf(answer)?.['error'] === endpoints[endpoint].messages[429];

/** Checks every answer of a run against every rule that covers its lookup. */
export function createJudge(rules: readonly Rule[], known: Known) {
  const states = new Map<string, State>(
    rules.map(({ id }) => [id, { cases: 0, failures: [], refusals: [] }]),
  );
  const ofEndpoint = new Map<string, readonly Rule[]>(
    ['user-status', 'deposit-check'].map((endpoint) => [
      endpoint,
      rules.filter(({ id, holds }) => holds !== undefined && id.includes(`/${endpoint}/`)),
    ]),
  );
  const findings = new WeakMap<Answer, readonly Finding[]>();
  const answeredCorrectly = new Set<string>();
  /** Hostile lookups without an answer. They fail as soon as the target answers another lookup. */
  const unansweredHostile: (Unanswered & { readonly id: string })[] = [];

  const findingsOf = (expected: Expected, answer: Answer): readonly Finding[] => {
    const further = ofEndpoint.get(expected.endpoint)!.flatMap(({ id, holds }) => {
      const verdict = holds!(answer, expected, known);
      return verdict === undefined || verdict.kind === 'inconclusive' ? [] : [{ id, verdict }];
    });
    return [...judgeLookup(expected, answer), ...further];
  };

  const note = (finding: Finding, exchange: Exchange, isRefusal: boolean, path?: string) => {
    const state = states.get(finding.id);
    if (state === undefined) return;
    const { verdict } = finding;
    if (verdict.kind === 'inconclusive')
      return void (state.unclear ??= { verdict, cases: 0, evidence: exchange });
    state.cases++;
    if (verdict.kind !== 'failed') return;
    const list = isRefusal ? state.refusals : state.failures;
    const origin = path === undefined ? undefined : sentAs(originOf(path, known), exchange.request);
    list.push(defined({ verdict, exchange, origin }));
    // The sort is stable, so that the first of equal failures stays.
    list.sort((one, other) => rank(one) - rank(other));
    list.splice(MAX_FAILURES);
  };

  /** The sender may have chosen the caller's second key. */
  const sentAs = (origin: Origin, { credential }: Request): Origin =>
    origin.levels.key === 'active' &&
    credential.as === 'key' &&
    credential.key.key !== known.callerKeys[0]?.key
      ? { ...origin, levels: { ...origin.levels, 'active key': 'second' } }
      : origin;

  const failHostile = ({ id, request, reply }: (typeof unansweredHostile)[number]) => {
    const verdict = failed('connection', 'an answer with a status from 400 to 499', reply.words);
    note({ id, verdict }, { request, reply }, false);
  };

  /** Failures of a rule, without those that belong to another rule. */
  const ownFailures = (id: string): readonly Failure[] => {
    const [, endpoint = '', name = ''] = id.split('/');
    const others = checkedFirst[name];
    return states
      .get(id)!
      .failures.filter(({ verdict, origin }) =>
        (others?.(endpoint, origin?.levels) ?? []).every((other) =>
          (states.get(other)?.failures ?? []).every(({ verdict: { aspect } }) => aspect !== verdict.aspect),
        ),
      );
  };

  return {
    /**
     * Judges an answer.
     *
     * @param path of the lookup in the covering array
     * @param isAgain whether the lookup only confirms a failure
     */
    add: (request: Request, answer: Answer, path?: string, isAgain = false): readonly Finding[] => {
      for (const one of unansweredHostile.splice(0)) failHostile(one);
      if (isLimited(request, answer)) return [];
      const expected = request.isStateChanged === true ? undefined : expectedOf(known, request);
      if (expected === undefined) return [];
      let all = findingsOf(expected, answer);
      const name = nameOf(request, known);
      const repeatable = `valid/${expected.endpoint}/repeatable`;
      const isCorrect = all.every(({ verdict }) => verdict.kind === 'passed');
      if (answeredCorrectly.has(name) && !isAgain)
        all = isCorrect
          ? [...all, { id: repeatable, verdict: pass }]
          : all.map(({ id, verdict }) => ({ id: verdict.kind === 'failed' ? repeatable : id, verdict }));
      if (isCorrect) answeredCorrectly.add(name);
      const isRefusal = answer.status === 401 && expected.isKeyValid;
      if (!isAgain) for (const finding of all) note(finding, { request, reply: answer }, isRefusal, path);
      findings.set(answer, all);
      return all;
    },
    addMissing: (request: Request, trouble: Trouble): void => {
      const expected = expectedOf(known, request);
      const id = expected?.hostile?.id ?? expected?.correct[0]?.id;
      const state = id === undefined ? undefined : states.get(id);
      if (state === undefined) return;
      const isSilent = trouble.code === 'network' || trouble.code === 'timeout';
      if (expected?.hostile !== undefined && isSilent && trouble.words !== NOT_SENT)
        unansweredHostile.push({ id: expected.hostile.id, request, reply: trouble });
      // A front end may reject a GET with a body.
      if (request.body === undefined) state.unanswered ??= { request, reply: trouble };
    },
    /** Judges an answer without recording the findings. */
    findingsOf,
    /** The findings of an answer that was judged. */
    findings: (answer: Answer) => findings.get(answer) ?? [],
    /** Failures of a rule, those of the plainest lookups first. */
    failures: ownFailures,
    /**
     * @param keyWorks whether the key under test was ever accepted
     * @param isCut whether some lookups were not tried because the budget was used up
     * @param explained explanation of the first failure of this rule
     */
    judgement: (
      { id }: Rule,
      keyWorks: boolean | undefined,
      isCut: boolean,
      explained: Partial<Judgement> = {},
    ): Judgement => {
      const { cases, refusals, unanswered, unclear } = states.get(id)!;
      // A slow target may time out now and then, whatever the lookup.
      const isRandomTimeout = ({ exchange: { reply } }: Failure) =>
        explained.intermittent !== undefined && isLate(reply);
      const failures = ownFailures(id).filter((one) => !isRandomTimeout(one));
      const provesKey = id === 'valid/user-status/member' || id === 'valid/deposit-check/executed';
      const [failure] = keyWorks === false && !provesKey ? failures : [...failures, ...refusals];
      if (failure !== undefined) {
        const { verdict, exchange, origin } = failure;
        return defined({ verdict, cases, evidence: exchange, path: origin?.path, ...explained });
      }
      const [refusal] = refusals;
      if (refusal !== undefined) {
        const words = 'the target answers every request of the key under test with 401';
        return { verdict: inconclusive('key-refused', words), cases, evidence: refusal.exchange };
      }
      if (unanswered !== undefined)
        return {
          verdict: inconclusive(unanswered.reply.code, unanswered.reply.words),
          cases,
          evidence: unanswered,
        };
      if (cases > 0) return { verdict: pass, cases };
      if (unclear !== undefined) return unclear;
      const verdict = isCut
        ? inconclusive('budget', '--cases, --max-duration or --max-requests left no lookup for it')
        : inconclusive(
            'depends',
            'not checked because no answer applied to it, except those that failed another requirement',
          );
      return { verdict, cases };
    },
  };
}

const isLate = (reply: Reply) => reply.kind === 'trouble' && reply.code === 'timeout';

const rank = ({ exchange: { reply }, origin }: Failure) => oddness(origin) + (isLate(reply) ? 1000 : 0);

/** How many levels are not plain; gates count more. Lookups outside the array come last. */
const oddness = (origin: Origin | undefined) =>
  origin === undefined
    ? 100
    : (origin.path.match(/[;,][a-z ]+=/g) ?? []).length +
      (/key=|header=|malformation=/.test(origin.path) ? 0.5 : 0);
