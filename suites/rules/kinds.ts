import { findsUsers, needsVersion4, type Endpoint } from '../../schemas/endpoints.ts';
import {
  completeFacts,
  plainFacts,
  type Facts,
  type KeyFact,
  type ParameterFact,
  type RawFacts,
} from './facts.ts';

type Some = Partial<RawFacts>;

const keyFacts: readonly KeyFact[] = [
  ...(['accepted', 'open', 'elsewhere', 'missing', 'malformed'] as const),
  ...(['unknown-key', 'revoked', 'expired', 'non-partner'] as const),
];

const parameterFacts: readonly ParameterFact[] = [
  ...(['plain', 'missing', 'empty', 'malformed', 'not-v4', 'alternative-spelling', 'hostile'] as const),
];

/** Spellings of a query. An encoded id, and one beside other parameters, may be read or refused. */
const spellings: readonly Some[] = [
  {},
  { isOpen: true },
  { isOpen: true, isEncoded: true },
  { isOpen: true, isAlone: false },
  { isOpen: true, isEncoded: true, isAlone: false },
];

/** A fact with each of these values. */
const each = <Name extends keyof RawFacts>(name: Name, ...values: readonly RawFacts[Name][]) =>
  values.map((value): Some => ({ [name]: value }));

const spaced: readonly Some[] = [{ parameter: 'alternative-spelling', isSpaced: true }];

/** Each choice of one from each list. */
const product = (...lists: readonly (readonly Some[])[]): readonly Some[] =>
  lists.reduce<readonly Some[]>(
    (all, list) => all.flatMap((one) => list.map((other) => ({ ...one, ...other }))),
    [{}],
  );

/** The facts of one lookup of each kind that can be sent. */
export function everyKind(endpoint: Endpoint): readonly Facts[] {
  const isUser = findsUsers(endpoint);
  const entities = [
    ...(isUser ? each('entity', 'own user') : each('entity', 'EXECUTED', 'failed')),
    ...(isUser ? [] : product(each('entity', 'pending'), each('isBecoming', false, true))),
    ...product(each('entity', 'foreign'), each('isOurs', false, true)),
    ...each('entity', 'unknown'),
  ];
  const read = product(
    each('key', 'accepted', 'open'),
    [...each('parameter', 'plain', 'alternative-spelling'), ...spaced],
    spellings,
    each('isCased', false, true),
    each('isOtherKey', false, true),
    each('isOtherVersion', false, !needsVersion4(endpoint)),
    entities,
  );
  // With another key or parameter, only whether the query may be refused can matter.
  const parameters = parameterFacts.filter((one) => needsVersion4(endpoint) || one !== 'not-v4');
  const unread = product(
    each('key', ...keyFacts),
    [...each('parameter', ...parameters), { parameter: 'malformed', isSpaced: true }, ...spaced],
    spellings.slice(0, 2),
  );
  const all = [...unread, ...read].map((some) => completeFacts({ ...plainFacts(endpoint), ...some }));
  return [...new Map(all.map((facts) => [facts.kind, facts])).values()];
}
