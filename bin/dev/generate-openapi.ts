/** Writes the description of the interface, `schemas/openapi.json` (`npm run generate`). */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { magicValues } from '../../mock/magic-values.ts';
import { factsOf } from '../../mock/world.ts';
import builtIn from '../../schemas/built-in.fixture.json' with { type: 'json' };
import { endpoints, type Endpoint, type ErrorStatus } from '../../schemas/endpoints.ts';
import errorBody from '../../schemas/error-body.schema.json' with { type: 'json' };
import executedDepositResult from '../../schemas/executed-deposit-result.schema.json' with { type: 'json' };
import type { Fixture } from '../../schemas/generated/types.ts';
import membershipResult from '../../schemas/membership-result.schema.json' with { type: 'json' };
import { version } from '../version.ts';

const fixture = builtIn as Fixture;
const output = new URL('../../schemas/openapi.json', import.meta.url);

/** Texts about the endpoints (Endpoints). */
const words = {
  'user-status': {
    operationId: 'userStatus',
    summary: "Whether a user belongs to the calling partner's IB",
    description:
      'A user of another IB, of none, and one that nobody knows are answered alike, with 200. Repeated failed lookups set off a limiter (Endpoints, user-status; Limits).',
    parameter: 'Id of the user, a UUID of version 4.',
    found: 'Whether the user is under the IB of the caller, and since when.',
    result: 'MembershipResult',
  },
  'deposit-check': {
    operationId: 'depositCheck',
    summary: "Whether a deposit of a user under the calling partner's IB is executed",
    description:
      'A deposit that is pending may be EXECUTED later: poll until 200, or take 404 for not yet (Endpoints, deposit-check; States and transitions).',
    parameter: 'Reference id of the deposit, a UUID, as the user finds it in Finances > Deposit.',
    found: 'The deposit is EXECUTED, and of a user under the IB of the caller.',
    result: 'ExecutedDepositResult',
  },
} as const;

/** The cause of each error (Errors). */
const causes: Readonly<Record<ErrorStatus, (parameter: string) => string>> = {
  400: (parameter) => `${parameter} is missing, or no valid UUID.`,
  401: () => 'The key is missing, invalid, revoked, expired, or not of a Partner account.',
  404: () =>
    'No deposit has this reference id, or it is of a user outside the IB of the caller, or it is pending or failed: they cannot be told apart.',
  429: () =>
    'Too many requests for now: wait, and for longer each time. Thresholds and header fields are not shown.',
};

/** A request over the built-in fixture, and its answer. */
interface Example {
  /** What it shows, such as `revoked key`. */
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly status: number;
  /** Value of the endpoint's parameter. */
  readonly id: string;
  readonly key: string;
  readonly body: unknown;
}

const examples: readonly Example[] = magicValues(fixture, factsOf(fixture)).map(
  ({ shows, endpoint, id, key }) => {
    const [, code = '', state = ''] = /^(\d{3}), (.+)$/.exec(shows) ?? [];
    const status = Number(code);
    const messages: Readonly<Record<number, string>> = endpoints[endpoint].messages;
    const body = status === 200 ? resultOf(endpoint, id, key.partner) : { error: messages[status] };
    return { shows: state, endpoint, status, id, key: key.key, body };
  },
);

/** The body of a 200 (Resources and their fields). */
function resultOf(endpoint: Endpoint, id: string, caller: string | null) {
  const { users = [], deposits = [] } = fixture;
  if (endpoint === 'user-status') {
    const member = users.find(({ user_id, partner }) => user_id === id && partner === caller);
    return { is_under_ib: member !== undefined, date_joined: member?.date_joined ?? null };
  }
  const deposit = deposits.find(({ reference_id }) => reference_id === id);
  if (deposit?.state !== 'EXECUTED') throw new Error(`${id} is not EXECUTED`);
  const { state, amountInUsd, executedAt } = deposit;
  return { status: state, amountInUsd, executedAt };
}

/** `another IB's user` → `another-IBs-user` */
const nameOf = ({ shows }: Example) => shows.replaceAll("'", '').replaceAll(/\W+/g, '-');

function operationOf(endpoint: Endpoint) {
  const { parameter: name, messages } = endpoints[endpoint];
  const { operationId, summary, description, found, result, parameter } = words[endpoint];
  const errors = Object.entries(messages).map(([code, message]) => {
    const status = Number(code) as ErrorStatus;
    return [code, response(endpoint, status, causes[status](name), errorOf(message))];
  });
  return {
    operationId,
    summary,
    description,
    parameters: [
      {
        name,
        in: 'query',
        required: true,
        description: parameter,
        schema: { type: 'string', format: 'uuid' },
        examples: idsOf(endpoint),
      },
    ],
    responses: {
      200: response(endpoint, 200, found, { $ref: `#/components/schemas/${result}` }),
      ...Object.fromEntries(errors),
    },
  };
}

/** Each id once, named after the first example that uses it. An id that gets a 400 is no valid value. */
function idsOf(endpoint: Endpoint) {
  const valid = examples.filter((one) => one.endpoint === endpoint && one.status !== 400);
  const firsts = valid.filter((one, at) => valid.findIndex(({ id }) => id === one.id) === at);
  return Object.fromEntries(
    firsts.map((one) => [nameOf(one), { summary: `${one.status}, ${one.shows}`, value: one.id }]),
  );
}

function response(endpoint: Endpoint, status: number, description: string, schema: unknown) {
  const { path, parameter } = endpoints[endpoint];
  const shown = examples.filter((one) => one.endpoint === endpoint && one.status === status);
  const entries = shown.map((one) => {
    const request = `To \`${path}?${parameter}=${one.id}\` with \`Authorization: Bearer ${one.key}\`.`;
    return [nameOf(one), { summary: one.shows, description: request, value: one.body }];
  });
  return {
    description,
    content: {
      'application/json': {
        schema,
        ...(shown.length > 0 && { examples: Object.fromEntries(entries) }),
      },
    },
  };
}

/** A schema within the document, which has its own dialect and base. */
function embedded<Schema extends { readonly $schema: string; readonly $id: string }>({
  $schema: _,
  $id: __,
  ...schema
}: Schema) {
  return schema;
}

/** The body of one error, with its exact message. */
function errorOf(message: string) {
  const { title: _, properties, ...rest } = embedded(errorBody);
  return { ...rest, properties: { error: { ...properties.error, const: message } } };
}

/**
 * Both rows of status 200: `date_joined` is a string for users under the IB, else null. It is a condition,
 * which generators of clients ignore: of `oneOf` they make worse types, and openapi-fetch 0.17 loses a property
 * that can only be null. `unevaluatedProperties` is for linters that assume false.
 */
function membershipSchema() {
  const dateJoined = (type: string) => ({
    properties: { date_joined: { type } },
    unevaluatedProperties: true,
  });
  return {
    ...embedded(membershipResult),
    if: { properties: { is_under_ib: { const: true } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: dateJoined('string'),
    else: dateJoined('null'),
  };
}

const keys = [...new Set(examples.map(({ key }) => `\`${key}\``))].join(', ');

/**
 * It says no more than the interface does: no Retry-After, no other status, and no `format` for date_joined,
 * because date-time is narrower than ISO 8601.
 */
const document = {
  openapi: '3.1.0',
  info: {
    title: 'Partner referral (IB) lookup service',
    version,
    description:
      'Two lookups for partners (introducing brokers, IB), each scoped to the partner whose key is presented. The examples are what the mock of ib-conformance answers over its built-in fixture.',
  },
  servers: [
    {
      url: 'http://127.0.0.1:4010',
      description: 'The mock, where it listens by default. Put the {base_url} of the service in its place.',
    },
  ],
  security: [{ apiKey: [] }],
  paths: Object.fromEntries(
    (Object.keys(endpoints) as Endpoint[]).map((name) => [endpoints[name].path, { get: operationOf(name) }]),
  ),
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: `The API key of a Partner account (Authentication). Of the built-in fixture: ${keys}.`,
      },
    },
    schemas: {
      MembershipResult: membershipSchema(),
      ExecutedDepositResult: embedded(executedDepositResult),
    },
  },
};

const options = await resolveConfig(output);
await writeFile(output, await format(JSON.stringify(document), { ...options, filepath: output.pathname }));
