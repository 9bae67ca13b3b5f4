import type { FixtureDeposit } from '../../schemas/generated/types.ts';
import { changeDeposit, depositNow, foundDeposit } from '../deposits.ts';
import { lookIn, valuesOf } from '../overlay.ts';
import { sandboxNamed, timeIn, type Sandbox, type Session } from '../session.ts';
import { countIn, fieldsOf, numberAt } from './fields.ts';
import { readPart } from './part.ts';
import { Refusal } from './refusal.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

/** Most deposits or users that one answer lists, unless told otherwise. */
export const PAGE = 1000;

/** One part of a list, with the length of the whole. */
export function page<Item>(items: readonly Item[], query: URLSearchParams): readonly Item[] {
  const offset = countIn(query, 'offset', 0);
  return items.slice(offset, offset + countIn(query, 'limit', PAGE));
}

function known(session: Session, { world, params }: AdminRequest) {
  const sandbox = sandboxNamed(session, world);
  const deposit = foundDeposit(sandbox.world, params['id'] ?? '');
  if (deposit === undefined)
    throw new Refusal(404, `there is no deposit ${params['id']} here; GET /__admin/deposits lists them`);
  return { sandbox, deposit, now: timeIn(session, sandbox) };
}

/** A deposit whose state can still change. */
function open(session: Session, request: AdminRequest) {
  const found = known(session, request);
  const { state } = depositNow(found.sandbox.world, found.deposit, found.now);
  if (state !== 'pending')
    throw new Refusal(409, `the deposit is ${state}, which is final; POST /__admin/reset begins anew`, {
      state,
    });
  return found;
}

function add(session: Session, sandbox: Sandbox, body: unknown): FixtureDeposit {
  const user_id = (body as { user_id?: unknown } | undefined)?.user_id;
  const user = typeof user_id === 'string' ? lookIn(sandbox.world.users, user_id.toLowerCase()) : undefined;
  if (typeof user_id === 'string' && user === undefined)
    throw new Refusal(400, `user_id ${user_id} is not among the users; POST /__admin/users adds one`, {
      place: 'user_id',
    });
  const { deposits } = readPart({ users: user ? [user] : [], deposits: [body ?? null] }, 'deposits[0]');
  const [deposit] = deposits!;
  if (foundDeposit(sandbox.world, deposit!.reference_id) !== undefined)
    throw new Refusal(409, `there is a deposit ${deposit!.reference_id} already`, { place: 'reference_id' });
  changeDeposit(session, sandbox, 'added', {
    ...deposit!,
    partner: user?.partner ?? null,
    since: timeIn(session, sandbox),
  });
  return deposit!;
}

/** The deposits, and the transitions of the pending ones (States and transitions). */
export const depositRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/deposits',
    summary: 'The deposits in their state of now, with what is to become of them.',
    query: {
      state: 'EXECUTED, pending or failed',
      offset: 'how many to pass over',
      limit: `at most so many (${PAGE})`,
    },
    handle: (session, { world: name, query }) => {
      const sandbox = sandboxNamed(session, name);
      const now = timeIn(session, sandbox);
      const state = query.get('state');
      const all = valuesOf(sandbox.world.deposits);
      const some =
        state === null ? all : all.filter((one) => depositNow(sandbox.world, one, now).state === state);
      const deposits = page(some, query).map((one) => depositNow(sandbox.world, one, now));
      return ok({ deposits, meta: { total: some.length } });
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
    handle: (session, request) => {
      const { sandbox, deposit, now } = known(session, request);
      return ok(depositNow(sandbox.world, deposit, now));
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
    handle: (session, request) => {
      const fields = fieldsOf(request.body, ['amountInUsd', 'executedAt']);
      const { sandbox, deposit, now } = open(session, request);
      const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
      const amountInUsd = numberAt(fields, 'amountInUsd', 0) ?? planned?.amountInUsd ?? 100;
      const executedAt = Math.trunc(numberAt(fields, 'executedAt', 0) ?? planned?.executedAt ?? now);
      const { reference_id, user_id, partner } = deposit;
      const executed = {
        reference_id,
        user_id,
        partner,
        state: 'EXECUTED',
        amountInUsd,
        executedAt,
      } as const;
      changeDeposit(session, sandbox, 'executed', executed);
      return ok(depositNow(sandbox.world, executed, now));
    },
  },
  {
    method: 'POST',
    path: '/deposits/{id}/fail',
    summary: 'Lets a pending deposit fail now. 409 where its state is final.',
    handle: (session, request) => {
      fieldsOf(request.body, []);
      const { sandbox, deposit, now } = open(session, request);
      const { reference_id, user_id, partner } = deposit;
      const failed = { reference_id, user_id, partner, state: 'failed' } as const;
      changeDeposit(session, sandbox, 'failed', failed);
      return ok(depositNow(sandbox.world, failed, now));
    },
  },
];
