import type { FixtureDeposit } from '../../schemas/generated/types.ts';
import { addDeposit, executeDeposit, failDeposit, knownDeposit } from '../controls.ts';
import { depositNow, type DepositNow, valuesOf, type Deposit } from '../world.ts';
import { sandboxNamed, sandboxSeen, timeIn, type Sandbox, type Session } from '../session.ts';
import { isId } from '../behaviour.ts';
import { fieldsOf, numberAt, wholeAt } from './fields.ts';
import { listQuery, partOf } from './listing.ts';
import { readPart } from './part.ts';
import { ok, type Route } from './route.ts';

function add(session: Session, sandbox: Sandbox, body: unknown): DepositNow {
  // Within the part any user will do; whether there is one is the world's to say.
  const { user_id } = (body ?? {}) as { readonly user_id?: unknown };
  const users =
    typeof user_id === 'string' && isId('user-status', user_id)
      ? [{ user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' }]
      : [];
  const { deposits } = readPart({ users, deposits: [body ?? null] }, 'deposits[0]');
  return addDeposit(session, sandbox, deposits![0]!);
}

const states = ['EXECUTED', 'pending', 'failed'] as const satisfies readonly FixtureDeposit['state'][];

/** The deposits, and the transitions of the pending ones (States and transitions). */
export const depositRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/deposits',
    summary: 'The deposits in their state of now, with what is to become of them.',
    query: { state: 'EXECUTED, pending or failed', ...listQuery },
    handle: (session, { world: name, query }) => {
      const sandbox = sandboxSeen(session, name);
      const { world } = sandbox;
      const now = timeIn(session, sandbox);
      const state = query.get('state');
      const stateOf = (deposit: Deposit) =>
        deposit.state === 'pending' && deposit.becomes !== undefined
          ? depositNow(world, deposit, now).state
          : deposit.state;
      const all = valuesOf(world.deposits);
      const { items, total } = partOf(
        state === null ? all : all.filter((deposit) => stateOf(deposit) === state),
        query,
        (holds) => {
          const mayBeState = states.some(holds);
          return (deposit) =>
            holds(deposit.reference_id) ||
            holds(deposit.user_id) ||
            holds(deposit.partner) ||
            (mayBeState && holds(stateOf(deposit)));
        },
      );
      return ok({
        deposits: items.map((deposit) => depositNow(world, deposit, now)),
        meta: { total },
      });
    },
  },
  {
    method: 'POST',
    path: '/deposits',
    summary: 'Adds a deposit, as a fixture would have it; afterSeconds counts from now.',
    body: { $ref: '#/components/schemas/deposit' },
    handle: (session, { world: name, body }) => ({
      status: 201,
      json: add(session, sandboxNamed(session, name), body),
    }),
  },
  {
    method: 'GET',
    path: '/deposits/{id}',
    summary: 'One deposit.',
    handle: (session, { world: name, params }) => {
      const sandbox = sandboxSeen(session, name);
      const deposit = knownDeposit(sandbox, params['id'] ?? '');
      return ok(depositNow(sandbox.world, deposit, timeIn(session, sandbox)));
    },
  },
  {
    method: 'POST',
    path: '/deposits/{id}/execute',
    summary:
      'Executes a pending deposit now: with the amount and time given, or those of the fixture, or 100 USD now. 409 where its state is final.',
    body: {
      type: 'object',
      additionalProperties: false,
      properties: {
        amountInUsd: { type: 'number', minimum: 0 },
        executedAt: { type: 'integer', minimum: 0 },
      },
    },
    handle: (session, { world: name, params, body }) => {
      const fields = fieldsOf(body, ['amountInUsd', 'executedAt']);
      const [amountInUsd, executedAt] = [
        numberAt(fields, 'amountInUsd', 0),
        wholeAt(fields, 'executedAt', 0),
      ];
      const given = {
        ...(amountInUsd !== undefined && { amountInUsd }),
        ...(executedAt !== undefined && { executedAt }),
      };
      return ok(executeDeposit(session, sandboxNamed(session, name), params['id'] ?? '', given));
    },
  },
  {
    method: 'POST',
    path: '/deposits/{id}/fail',
    summary: 'Lets a pending deposit fail now. 409 where its state is final.',
    handle: (session, { world: name, params, body }) => {
      fieldsOf(body, []);
      return ok(failDeposit(session, sandboxNamed(session, name), params['id'] ?? ''));
    },
  },
];
