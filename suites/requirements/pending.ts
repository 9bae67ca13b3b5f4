import { inAnyNotation, sees } from '../rules/facts.ts';
import { evenSample } from '../inputs/uuids.ts';
import { notFound } from '../rules/named-answers.ts';
import { answers, scenario, type Requirement } from '../rules/requirement.ts';
import { becomesExecuted, pollsOf } from '../scenarios/becomes-executed.ts';
import { indistinguishable } from '../scenarios/indistinguishable.ts';
import { fixtureOutdated } from '../rules/verdict.ts';

const PENDING = 'pending/deposit-check/pending';
const polls = pollsOf('deposit-check', PENDING);

export const pending: readonly Requirement[] = [
  answers({
    id: PENDING,
    clause: 'Deposit states; GET deposit-check, 404',
    title: 'A pending deposit under the IB gets 404 with the exact error body',
    provedBy: ['pending/deposit-check/becomes-executed'],
    ...inAnyNotation(sees('pending')),
    answer: notFound,
    otherwise: fixtureOutdated,
  }),
  answers({
    id: 'pending/deposit-check/failed',
    clause: 'Deposit states; GET deposit-check, 404',
    title: 'A failed deposit under the IB gets 404 with the exact error body',
    provedBy: [],
    ...inAnyNotation(sees('failed')),
    answer: notFound,
  }),
  indistinguishable({
    id: 'pending/deposit-check/indistinguishable',
    clause: 'Deposit states',
    title: 'A pending or failed deposit is answered exactly like an unknown one',
    endpoint: 'deposit-check',
    needs: [
      ['deposit-check', { situation: 'own pending' }],
      ['deposit-check', { situation: 'own failed' }],
    ],
    provedBy: ['pending/deposit-check/becomes-executed'],
    hidden: ({ pending: waiting, failed: gone }) =>
      [...evenSample(waiting, 2), ...evenSample(gone, 2)].map(({ reference_id }) => reference_id),
  }),
  scenario({
    id: 'pending/deposit-check/becomes-executed',
    endpoint: 'deposit-check',
    phase: 'alone',
    level: 'required',
    clause: 'Deposit states: executed later',
    title: 'A deposit that becomes EXECUTED changes from 404 to 200 with its amount and time',
    needsChange: 'transition',
    needs: [['deposit-check', { situation: 'own pending' }]],
    begin: ({ once }, known) => once(polls, known),
    run: (context, known) => becomesExecuted('deposit-check', polls, PENDING, context, known),
  }),
];
