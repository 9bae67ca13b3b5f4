import { messageOf, perEndpoint, type Endpoint, type ErrorStatus } from '../../schemas/endpoints.ts';
import { summary, type Answer } from '../answer.ts';
import {
  expectError,
  expectExecuted,
  expectMember,
  expectNotMember,
  fieldsOf,
  isExecuted,
  isMember,
} from './expectations.ts';
import type { Facts } from './facts.ts';
import { failed, pass, type Expectation, type Verdict } from './verdict.ts';

/** An answer that the interface names. Rows of the catalogue say which lookup gets which. */
export interface NamedAnswer {
  readonly name: string;
  readonly status: number;
  /** Whether it shows the user or deposit, and whether it may hide one. Neither: it says nothing of the entity. */
  readonly shows?: 'entity' | 'nothing';
  /** Whether a server gives it after it has read the id. */
  readonly readsId?: true;
  /** Whether it has the exact message of its status and endpoint (Errors). */
  readonly isError?: true;
  readonly expect: (facts: Facts) => Expectation;
  /** The answer in words, as a person would write it. */
  readonly text: (facts: Facts) => string;
}

const error = (name: string, status: ErrorStatus, more: Partial<NamedAnswer> = {}): NamedAnswer => {
  const expectations = perEndpoint((endpoint) => expectError(endpoint, status));
  return {
    name,
    status,
    isError: true,
    expect: ({ endpoint }) => expectations[endpoint],
    text: ({ endpoint }) => errorText(endpoint, status),
    ...more,
  };
};

/** Status and body of an error, as text. */
export const errorText = (endpoint: Endpoint, status: ErrorStatus) =>
  `${status} ${JSON.stringify({ error: messageOf(endpoint, status) })}`;

export const member: NamedAnswer = {
  name: 'member',
  status: 200,
  shows: 'entity',
  readsId: true,
  expect: () => expectMember,
  text: ({ user }) => `200 {"is_under_ib":true,"date_joined":"${user?.date_joined}"}`,
};

export const notMember: NamedAnswer = {
  name: 'not a member',
  status: 200,
  shows: 'nothing',
  readsId: true,
  expect: () => expectNothing,
  text: () => '200 {"is_under_ib":false,"date_joined":null}',
};

/** A missing date is a wrong shape, which another requirement checks. */
function expectNothing(answer: Answer): Verdict {
  const verdict = expectNotMember(answer);
  const date = fieldsOf(answer)?.['date_joined'] ?? null;
  if (verdict.kind !== 'passed' || date === null) return verdict;
  return failed('value', '200 with "is_under_ib": false, "date_joined": null', summary(answer));
}

export const executed: NamedAnswer = {
  name: 'EXECUTED',
  status: 200,
  shows: 'entity',
  readsId: true,
  expect: () => expectExecuted,
  text: ({ deposit }) =>
    deposit === undefined
      ? '200 {"status":"EXECUTED","amountInUsd":…,"executedAt":…}, once the deposit is EXECUTED'
      : `200 ${JSON.stringify({ status: 'EXECUTED', amountInUsd: deposit.amountInUsd, executedAt: deposit.executedAt })}`,
};

export const notFound = error('not found', 404, { shows: 'nothing', readsId: true });
export const invalid = error('invalid', 400);
export const unauthorized = error('unauthorized', 401);

/** Any answer but one that lets the caller in. */
export const refused: NamedAnswer = {
  name: 'refused',
  status: 401,
  expect: () => (answer) =>
    answer.status < 400 || answer.status === 404 ? failed('status', '401', summary(answer)) : pass,
  text: ({ endpoint }) => `${errorText(endpoint, 401)}, or any other refusal`,
};

/** Any 4xx. A front end may answer 414 or 431. A valid id in an unusual place may also be read. */
export const refusedHostile: NamedAnswer = {
  name: 'refused, by anybody',
  status: 400,
  expect:
    ({ key, isOpen }) =>
    (answer) => {
      const { status } = answer;
      const isRefused = status >= 400 && status < 500;
      return isRefused || (key === 'accepted' && isOpen && status < 400)
        ? pass
        : failed('status', 'a status from 400 to 499', summary(answer));
    },
  text: ({ key, isOpen }) =>
    `any status from 400 to 499${key === 'accepted' && isOpen ? ', or an answer that reads the id' : ''}`,
};

/** Whether an answer shows a member or an EXECUTED deposit. */
export const showsEntity = (answer: Answer) => isMember(answer) || isExecuted(answer);
