import { endpoints, type Endpoint, type ErrorStatus } from './endpoints.ts';

/** An answer to show in the description, and the request that gets it. */
export interface DescribedExample {
  /** What it shows, such as `revoked key`. */
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly status: number;
  /** Value of the endpoint's parameter. */
  readonly id: string;
  readonly key: string;
  readonly body: unknown;
}

/** A JSON Schema of a body that is an object. */
export interface BodySchema {
  readonly $schema?: string;
  readonly $id?: string;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [keyword: string]: unknown;
}

/** What the description is made of, beside the table of the endpoints. */
export interface DescriptionParts {
  /** Version of the description: the interface shows none of its own (Versioning). */
  readonly version: string;
  readonly membershipResult: BodySchema;
  readonly executedDepositResult: BodySchema;
  readonly errorBody: BodySchema;
  readonly examples: readonly DescribedExample[];
}

/** What the table of the endpoints does not say of them (Endpoints). */
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

/** What makes an error (Errors). */
const causes: Readonly<Record<ErrorStatus, (parameter: string) => string>> = {
  400: (parameter) => `${parameter} is missing, or no valid UUID.`,
  401: () => 'The key is missing, invalid, revoked, expired, or not of a Partner account.',
  404: () =>
    'No deposit has this reference id, or it is of a user outside the IB of the caller, or it is pending or failed: they cannot be told apart.',
  429: () =>
    'Too many requests for now: wait, and for longer each time. Thresholds and header fields are not shown.',
};

/**
 * The interface as an OpenAPI 3.1 document.
 *
 * It says no more than the interface does: no Retry-After, no answer of another status, and for
 * date_joined no `format`, because date-time is narrower than ISO 8601.
 */
export function describeInterface(parts: DescriptionParts) {
  const names = Object.keys(endpoints) as Endpoint[];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner referral (IB) lookup service',
      version: parts.version,
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
    paths: Object.fromEntries(names.map((name) => [endpoints[name].path, { get: operationOf(name, parts) }])),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `The API key of a Partner account (Authentication). Of the built-in fixture: ${keysOf(parts)}.`,
        },
      },
      schemas: {
        MembershipResult: membershipOf(parts.membershipResult),
        ExecutedDepositResult: embedded(parts.executedDepositResult),
      },
    },
  };
}

const keysOf = ({ examples }: DescriptionParts) =>
  [...new Set(examples.map(({ key }) => `\`${key}\``))].join(', ');

function operationOf(endpoint: Endpoint, { errorBody, examples }: DescriptionParts) {
  const { parameter, messages } = endpoints[endpoint];
  const { operationId, summary, description, found, result, parameter: whatItIs } = words[endpoint];
  const shown = examples.filter((example) => example.endpoint === endpoint);
  return {
    operationId,
    summary,
    description,
    parameters: [
      {
        name: parameter,
        in: 'query',
        required: true,
        description: whatItIs,
        schema: { type: 'string', format: 'uuid' },
        examples: idsOf(shown),
      },
    ],
    responses: {
      200: response(200, found, { $ref: `#/components/schemas/${result}` }, shown),
      ...Object.fromEntries(
        Object.entries(messages).map(([code, message]) => {
          const status = Number(code) as ErrorStatus;
          return [code, response(status, causes[status](parameter), errorOf(errorBody, message), shown)];
        }),
      ),
    },
  };
}

/** Each id once, under what it shows first; what is no valid value of the parameter is no example of one. */
function idsOf(shown: readonly DescribedExample[]) {
  const byId = new Map(
    shown
      .filter(({ status }) => status !== 400)
      .toReversed()
      .map((one) => [one.id, one]),
  );
  const firsts = shown.filter((one) => byId.get(one.id) === one);
  return Object.fromEntries(
    firsts.map((one) => [nameOf(one), { summary: `${one.status}, ${one.shows}`, value: one.id }]),
  );
}

function response(status: number, description: string, schema: unknown, shown: readonly DescribedExample[]) {
  const examples = shown.filter((example) => example.status === status);
  return {
    description,
    content: {
      'application/json': {
        schema,
        ...(examples.length > 0 && {
          examples: Object.fromEntries(
            examples.map((one) => [
              nameOf(one),
              { summary: one.shows, description: requestOf(one), value: one.body },
            ]),
          ),
        }),
      },
    },
  };
}

/** `another IB's user` → `another-IBs-user` */
const nameOf = ({ shows }: DescribedExample) => shows.replaceAll("'", '').replaceAll(/\W+/g, '-');

const requestOf = ({ endpoint, id, key }: DescribedExample) =>
  `To \`${endpoints[endpoint].path}?${endpoints[endpoint].parameter}=${id}\` with \`Authorization: Bearer ${key}\`.`;

/** A schema within the document, whose dialect and base it has. */
function embedded({ $schema: _, $id: __, ...schema }: BodySchema) {
  return schema;
}

/**
 * Both rows of status 200: since when is told of those who are under the IB, and of nobody else. As a
 * condition, for generators of clients pass over that; of two schemas by `oneOf` they make worse types,
 * and openapi-fetch 0.17 loses a property that can be nothing but null. That other properties are judged
 * elsewhere goes without saying, but linters that supply what was left out would supply the contrary.
 */
function membershipOf(schema: BodySchema) {
  const dateJoined = (type: string) => ({
    properties: { date_joined: { type } },
    unevaluatedProperties: true,
  });
  return {
    ...embedded(schema),
    if: { properties: { is_under_ib: { const: true } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: dateJoined('string'),
    else: dateJoined('null'),
  };
}

/** The body of one error, with its exact message. */
function errorOf(schema: BodySchema, message: string) {
  const { title: _, properties, ...rest } = embedded(schema);
  return { ...rest, properties: { error: { ...properties['error'], const: message } } };
}
