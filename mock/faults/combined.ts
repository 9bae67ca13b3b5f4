import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import type { Behaviour } from '../behaviour.ts';

/** A kind of answer. */
interface Target {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly matches: (exchange: Exchange) => boolean;
  /** Factors that the target already fixes. */
  readonly factors: readonly string[];
}

interface Condition {
  readonly factor: string;
  readonly level: string;
  readonly endpoint?: Endpoint;
  readonly holds: (exchange: Exchange, times: number) => boolean;
}

const stateOf = ({ finding }: Exchange) => ('deposit' in finding ? finding.deposit.state : undefined);
const amountOf = ({ finding }: Exchange) =>
  'deposit' in finding && finding.deposit.state === 'EXECUTED' ? finding.deposit.amountInUsd : undefined;
const kindIs = (kind: Exchange['finding']['kind']) => (exchange: Exchange) => exchange.finding.kind === kind;
const keyIs = (state: string) => (exchange: Exchange) =>
  exchange.finding.kind === 'unauthorized' && exchange.call?.key?.state === state;

const situation = ['situation', 'id version', 'key'];

const targets: readonly Target[] = [
  { name: 'own user', endpoint: 'user-status', matches: kindIs('member'), factors: situation },
  { name: 'foreign user', endpoint: 'user-status', matches: kindIs('foreign'), factors: situation },
  { name: 'unknown user', endpoint: 'user-status', matches: kindIs('unknown'), factors: situation },
  {
    name: 'EXECUTED deposit',
    endpoint: 'deposit-check',
    matches: kindIs('executed'),
    factors: ['situation'],
  },
  { name: 'foreign deposit', endpoint: 'deposit-check', matches: kindIs('foreign'), factors: ['situation'] },
  { name: 'unknown deposit', endpoint: 'deposit-check', matches: kindIs('unknown'), factors: ['situation'] },
  ...['pending', 'failed'].map((state): Target => ({
    name: `${state} deposit`,
    endpoint: 'deposit-check',
    matches: (exchange) => exchange.finding.kind === 'notYet' && stateOf(exchange) === state,
    factors: ['situation'],
  })),
  ...(['user-status', 'deposit-check'] as const).flatMap((endpoint): readonly Target[] => [
    { name: 'revoked key', endpoint, matches: keyIs('revoked'), factors: ['key'] },
    { name: 'expired key', endpoint, matches: keyIs('expired'), factors: ['key'] },
    {
      name: 'no key',
      endpoint,
      matches: ({ finding, request }) =>
        finding.kind === 'unauthorized' && request.headers.authorization === undefined,
      factors: ['key', 'header'],
    },
    {
      name: 'no value',
      endpoint,
      matches: ({ finding, call }) => finding.kind === 'invalid' && (call?.value ?? '') === '',
      factors: ['malformation'],
    },
  ]),
];

const valueOf = ({ call }: Exchange) => call?.value ?? '';
const queryOf = ({ request }: Exchange) => request.target.split('?')[1] ?? '';
const isEncoded = (exchange: Exchange) => /%[0-9a-f]{2}/i.test(queryOf(exchange));
const isUuid = (exchange: Exchange) => /^[\da-f-]{36}$/i.test(valueOf(exchange));
const scheme = (name: string) => (exchange: Exchange) =>
  exchange.request.headers.authorization?.startsWith(`${name} `) === true;
const extraAt = (isFirst: boolean) => (exchange: Exchange) => {
  const parameters = queryOf(exchange).split('&');
  const own = exchange.call?.endpoint === 'user-status' ? 'user_id=' : 'reference_id=';
  return parameters.length > 1 && parameters[isFirst ? 1 : 0]!.startsWith(own);
};

/** Holds for an id without percent-encoding that passes `fits`. */
const spelled = (fits: (value: string) => boolean) => (exchange: Exchange) =>
  isUuid(exchange) && !isEncoded(exchange) && fits(valueOf(exchange));
const hasUpper = (value: string) => value !== value.toLowerCase();
const hasLower = (value: string) => value !== value.toUpperCase();
const amountIs = (fits: (amount: number) => boolean) => (exchange: Exchange) => {
  const amount = amountOf(exchange);
  return amount !== undefined && fits(amount);
};

const conditions: readonly Condition[] = [
  { factor: 'id spelling', level: 'upper case', holds: spelled((id) => hasUpper(id) && !hasLower(id)) },
  { factor: 'id spelling', level: 'mixed case', holds: spelled((id) => hasUpper(id) && hasLower(id)) },
  { factor: 'id spelling', level: 'percent-encoded', holds: (one) => isUuid(one) && isEncoded(one) },
  { factor: 'query', level: 'extra parameter before', holds: extraAt(true) },
  { factor: 'query', level: 'extra parameter after', holds: extraAt(false) },
  { factor: 'repetition', level: 'three times', holds: (_, times) => times > 2 },
  { factor: 'header', level: 'bearer', holds: scheme('bearer') },
  { factor: 'header', level: 'BEARER', holds: scheme('BEARER') },
  { factor: 'key', level: "another partner's", holds: ({ call }) => call?.caller?.partner === 'contoso' },
  { factor: 'active key', level: 'second', holds: ({ call }) => call?.caller?.key === 'northwind-spare-key' },
  ...[...'12345678'].map((version): Condition => ({
    factor: 'id version',
    level: version,
    endpoint: 'deposit-check',
    holds: (exchange) => isUuid(exchange) && valueOf(exchange)[14] === version,
  })),
  ...Object.entries({
    'whole amount': amountIs((amount) => Number.isInteger(amount) && amount < 10_000),
    'amount below 1': amountIs((amount) => amount < 1),
    'amount of 10,000 or more': amountIs((amount) => amount >= 10_000),
  }).map(([level, holds]): Condition => ({ factor: 'data', level, endpoint: 'deposit-check', holds })),
];

const hasData = new Set(['EXECUTED deposit', 'foreign deposit']);
const isRefused = (name: string) => name.endsWith(' key');

/** Two conditions of the same group exclude each other. */
const groupOf = ({ factor }: Condition) => (factor === 'active key' ? 'key' : factor);

/** Whether a condition is possible for a target. */
function isApplicable({ name, endpoint, factors }: Target, condition: Condition): boolean {
  if (condition.endpoint !== undefined && condition.endpoint !== endpoint) return false;
  const group = groupOf(condition);
  if (factors.includes(group)) return false;
  if (condition.factor === 'data') return hasData.has(name);
  if (name === 'no value') return ['key', 'header', 'repetition'].includes(group);
  return !isRefused(name) || group !== 'key';
}

/** Wrong answers by name. */
const wrongAnswers: Readonly<
  Record<string, (response: HttpResponse, endpoint: Endpoint) => Partial<HttpResponse>>
> = {
  'another text': ({ status }) => ({
    body: JSON.stringify(status === 200 ? { unexpected: true } : { error: 'Something went wrong' }),
  }),
  'status 500': () => ({ status: 500, body: JSON.stringify({ error: 'Internal server error' }) }),
  'data that is made up': (_, endpoint) => ({
    status: 200,
    body: JSON.stringify(
      endpoint === 'user-status'
        ? { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z', x: 1 }
        : { status: 'EXECUTED', amountInUsd: -1, executedAt: 1_700_000_000_000 },
    ),
  }),
};

/**
 * Creates all faults with a target and `count` conditions, in an order that depends on the seed. Their ids are such as
 * `deposit-check, foreign deposit, id spelling: upper case: status 500`. `where` has the conditions in addition to
 * the target, as the suites name them.
 */
export function combinedFaults(count: 1 | 2, seed: number) {
  const all = targets.flatMap((target) => {
    const usable = conditions.filter((condition) => isApplicable(target, condition));
    const chosen =
      count === 1
        ? usable.map((one) => [one])
        : usable.flatMap((one, at) =>
            usable.slice(at + 1).flatMap((other) => (groupOf(other) === groupOf(one) ? [] : [[one, other]])),
          );
    return chosen.flatMap((some) => Object.keys(wrongAnswers).map((wrong) => combined(target, some, wrong)));
  });
  let state = seed >>> 0;
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return all
    .map((fault) => ({ fault, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault }) => fault);
}

function combined(target: Target, some: readonly Condition[], wrong: string) {
  const where = some.map(({ factor, level }) => `${factor}: ${level}`);
  return {
    id: `${target.endpoint}, ${target.name}, ${where.join(', ')}: ${wrong}`,
    where,
    change: (behaviour: Behaviour): Behaviour => {
      const seen = new Map<string, number>();
      return {
        ...behaviour,
        transform: (response, exchange) => {
          const finished = behaviour.transform(response, exchange);
          if (exchange.call?.endpoint !== target.endpoint || !target.matches(exchange)) return finished;
          const { request } = exchange;
          const name = `${request.target} ${request.headers.authorization}`;
          const times = (seen.get(name) ?? 0) + 1;
          seen.set(name, times);
          return some.every(({ holds }) => holds(exchange, times))
            ? { ...finished, ...wrongAnswers[wrong]!(finished, target.endpoint) }
            : finished;
        },
      };
    },
  };
}
