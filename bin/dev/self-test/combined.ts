import {
  answer,
  counter,
  crash,
  on,
  sameRequest,
  type Change,
  type Edit,
} from '../../../mock/deviations/deviate.ts';
import type { Exchange } from '../../../mock/server/exchange.ts';
import { splitTarget } from '../../../mock/server/handler.ts';
import { endpoints, endpointNames, type Endpoint } from '../../../schemas/endpoints.ts';

/** A kind of answer. */
interface Target {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly matches: (exchange: Exchange) => boolean;
  /** Factors that the target fixes, or that do not apply to it. */
  readonly without: readonly string[];
}

/** How often a request was sent, and how often its id was asked for with its key. */
interface Times {
  readonly sent: number;
  readonly asked: number;
}

interface Condition {
  readonly factor: string;
  readonly level: string;
  readonly endpoint?: Endpoint;
  /** The level that names it; factor and level by default. */
  readonly words?: string;
  readonly holds: (exchange: Exchange, times: Times) => boolean;
}

const hasState = (state: 'pending' | 'failed') => (exchange: Exchange) =>
  exchange.finding.kind === 'notYet' && exchange.finding.deposit.state === state;
const queryOf = ({ request }: Exchange) => splitTarget(request.target).query;
/** The key and the id of an exchange. */
const sameQuestion = ({ request: { headers }, call }: Exchange) =>
  `${headers.authorization} ${call?.endpoint} ${(call?.value ?? '').toLowerCase()}`;
const kindIs = (kind: Exchange['finding']['kind']) => (exchange: Exchange) => exchange.finding.kind === kind;
const keyIs = (state: string) => (exchange: Exchange) =>
  exchange.finding.kind === 'unauthorized' && exchange.call?.key?.state === state;
const hasNoKey = ({ finding, request }: Exchange) =>
  finding.kind === 'unauthorized' && request.headers.authorization === undefined;
const hasNoValue = ({ finding, call }: Exchange) => finding.kind === 'invalid' && !call?.value;

const targets: readonly Target[] = [
  { name: 'own user', endpoint: 'user-status', matches: kindIs('member'), without: ['key'] },
  { name: 'foreign user', endpoint: 'user-status', matches: kindIs('foreign'), without: ['key'] },
  { name: 'unknown user', endpoint: 'user-status', matches: kindIs('unknown'), without: ['key'] },
  { name: 'EXECUTED deposit', endpoint: 'deposit-check', matches: kindIs('executed'), without: [] },
  { name: 'foreign deposit', endpoint: 'deposit-check', matches: kindIs('foreign'), without: [] },
  { name: 'unknown deposit', endpoint: 'deposit-check', matches: kindIs('unknown'), without: ['data'] },
  { name: 'pending deposit', endpoint: 'deposit-check', matches: hasState('pending'), without: ['data'] },
  { name: 'failed deposit', endpoint: 'deposit-check', matches: hasState('failed'), without: ['data'] },
  ...endpointNames.flatMap((endpoint): readonly Target[] => [
    { name: 'revoked key', endpoint, matches: keyIs('revoked'), without: ['key', 'data'] },
    { name: 'expired key', endpoint, matches: keyIs('expired'), without: ['key', 'data'] },
    { name: 'no key', endpoint, matches: hasNoKey, without: ['key', 'header', 'data'] },
    {
      name: 'no value',
      endpoint,
      matches: hasNoValue,
      without: ['id spelling', 'id version', 'query', 'data', 'value'],
    },
  ]),
];

const valueOf = ({ call }: Exchange) => call?.value ?? '';
const isEncoded = (exchange: Exchange) => /id=[^&]*%[0-9a-f]{2}/i.test(queryOf(exchange));
const isUuid = (exchange: Exchange) => /^[\da-f-]{36}$/i.test(valueOf(exchange));
const scheme = (name: string) => (exchange: Exchange) =>
  exchange.request.headers.authorization?.startsWith(`${name} `) === true;
const extraAt = (isFirst: boolean) => (exchange: Exchange) => {
  const parameters = queryOf(exchange).split('&');
  const own = endpoints[exchange.call?.endpoint ?? 'deposit-check'].parameter;
  return parameters.length > 1 && parameters[isFirst ? 1 : 0]!.startsWith(`${own}=`);
};

/** Holds for an id without percent-encoding that passes `fits`. */
const spelled = (fits: (value: string) => boolean) => (exchange: Exchange) =>
  isUuid(exchange) && !isEncoded(exchange) && fits(valueOf(exchange));
const hasUpper = (value: string) => value !== value.toLowerCase();
const hasLower = (value: string) => value !== value.toUpperCase();
const amountIs = (fits: (amount: number) => boolean) => (exchange: Exchange) => {
  const deposit = 'deposit' in exchange.finding ? exchange.finding.deposit : undefined;
  return deposit?.state === 'EXECUTED' && fits(deposit.amountInUsd);
};

const conditions: readonly Condition[] = [
  { factor: 'id spelling', level: 'upper case', holds: spelled((id) => hasUpper(id) && !hasLower(id)) },
  { factor: 'id spelling', level: 'mixed case', holds: spelled((id) => hasUpper(id) && hasLower(id)) },
  { factor: 'id spelling', level: 'percent-encoded', holds: (one) => isUuid(one) && isEncoded(one) },
  { factor: 'query', level: 'extra parameter before', holds: extraAt(true) },
  { factor: 'query', level: 'extra parameter after', holds: extraAt(false) },
  {
    factor: 'repetition',
    level: 'three times',
    holds: (_, { sent }) => sent > 2,
  },
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
    'amount of 10000 or more': amountIs((amount) => amount >= 10_000),
  }).map(([level, holds]): Condition => ({ factor: 'data', level, endpoint: 'deposit-check', holds })),
];

const REPEATED = 'repetition: three times';

/** Conditions on how often an id was asked for. A lookup that is sent three times shows them. */
const histories: readonly Condition[] = [
  {
    factor: 'history',
    level: 'second time',
    words: REPEATED,
    holds: (_, { asked }) => asked > 1,
  },
  {
    factor: 'history',
    level: 'third time',
    words: REPEATED,
    holds: (_, { asked }) => asked > 2,
  },
];

/** Conditions on the value of an id, which no level names. */
const values: readonly Condition[] = [
  {
    factor: 'value',
    level: 'ends with c to f',
    holds: (one) => isUuid(one) && /[c-f]$/i.test(valueOf(one)),
  },
  {
    factor: 'value',
    level: 'starts with 0 to 9',
    holds: (one) => isUuid(one) && /^\d/.test(valueOf(one)),
  },
];

/** Conditions that a fault has besides those on levels. */
const extras = { none: [[]], histories: histories.map((one) => [one]), values: values.map((one) => [one]) };

export type Extra = keyof typeof extras | 'both';

const extrasOf = (extra: Extra): readonly (readonly Condition[])[] =>
  extra === 'both' ? histories.flatMap((one) => values.map((other) => [one, other])) : extras[extra];

/** Two conditions of the same group exclude each other. */
const groupOf = ({ factor }: Condition) => (factor === 'active key' ? 'key' : factor);

const madeUp: Readonly<Record<Endpoint, object>> = {
  'user-status': { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z', x: 1 },
  'deposit-check': { status: 'EXECUTED', amountInUsd: -1, executedAt: 1_700_000_000_000 },
};

/** Wrong answers by name. */
const wrongAnswers: Readonly<Record<string, (endpoint: Endpoint) => Edit>> = {
  'another text': () => (response) => ({
    body: JSON.stringify(response.status === 200 ? { unexpected: true } : { error: 'Something went wrong' }),
  }),
  'status 500': () => crash,
  'data that is made up': (endpoint) => answer(200, madeUp[endpoint]),
};

/**
 * Creates all faults with a target and `count` conditions, in an order that depends on the seed. Their ids are such as
 * `deposit-check, foreign deposit, id spelling: upper case: status 500`. `where` has the conditions in addition to
 * the target, as the suites name them.
 *
 * @param extra which conditions on histories and values are among them
 */
export function combinedFaults(count: 1 | 2 | 3, seed: number, extra: Extra = 'none') {
  const all = targets.flatMap((target) => {
    const usable = conditions.filter(
      (one) =>
        (one.endpoint ?? target.endpoint) === target.endpoint &&
        !target.without.includes(groupOf(one)) &&
        // It is a history.
        (extra === 'none' || one.factor !== 'repetition'),
    );
    return extrasOf(extra)
      .filter((some) => !some.some(({ factor }) => target.without.includes(factor)))
      .flatMap((some) => subsets(usable, count - some.length).map((chosen) => [...chosen, ...some]))
      .flatMap((some) => Object.keys(wrongAnswers).map((wrong) => combined(target, some, wrong)));
  });
  let state = seed >>> 0;
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return all
    .map((fault) => ({ fault, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault }) => fault);
}

/** All choices of `size` conditions that can hold together. */
const subsets = (list: readonly Condition[], size: number): readonly (readonly Condition[])[] =>
  size <= 0
    ? [[]]
    : list.flatMap((one, at) => {
        const others = list.slice(at + 1).filter((other) => groupOf(other) !== groupOf(one));
        return subsets(others, size - 1).map((rest) => [one, ...rest]);
      });

function combined({ endpoint, name, matches }: Target, some: readonly Condition[], wrong: string) {
  const names = some.map(({ factor, level }) => `${factor}: ${level}`);
  const where = some.map(({ words }, nth) => words ?? names[nth]!);
  const change: Change = (behaviour) => {
    const [sentOf, askedOf] = [counter(sameRequest), counter(sameQuestion)];
    const isCounted = some.some(({ factor }) => factor === 'history' || factor === 'repetition');
    const isHit = (exchange: Exchange) => {
      const times = isCounted ? { sent: sentOf(exchange), asked: askedOf(exchange) } : { sent: 0, asked: 0 };
      if (!matches(exchange)) return false;
      return some.every(({ holds }) => holds(exchange, times));
    };
    return on(endpoint, isHit, wrongAnswers[wrong]!(endpoint))(behaviour);
  };
  return { id: `${endpoint}, ${name}, ${names.join(', ')}: ${wrong}`, endpoint, where, change };
}
