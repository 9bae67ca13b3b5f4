/**
 * Describes the interface in OpenAPI, from its clauses, the data of its endpoints, the schemas, and answers of the mock
 * that hold at any time.
 */
import { createMock } from '../../mock/index.ts';
import { findExamples } from '../../mock/server/examples.ts';
import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import errorBody from '../../schemas/error-body.schema.json' with { type: 'json' };
import executedDepositResult from '../../schemas/executed-deposit-result.schema.json' with { type: 'json' };
import membershipResult from '../../schemas/membership-result.schema.json' with { type: 'json' };
import { mock } from '../commands/mock.ts';
import { version } from '../version.ts';
import { builtIn } from './testing/fixtures.ts';

/** The text of each clause, by its name. */
type Clauses = Readonly<Record<string, string>>;

const titles: Readonly<Record<Endpoint, string>> = {
  'user-status': "Whether a user belongs to the calling partner's IB",
  'deposit-check': "Whether a deposit of a user under the calling partner's IB is executed",
};

/** Examples without those whose answer changes with time or with the number of requests. */
async function examplesOf() {
  const { fetch } = createMock({ clock: 'frozen' });
  const all = findExamples(builtIn).flatMap((one) =>
    one.key === null || one.shows.includes(', then ') ? [] : [{ ...one, key: one.key.key }],
  );
  return Promise.all(
    all.map(async ({ shows, endpoint, id, key }) => {
      const { path, parameter } = endpoints[endpoint];
      const target = `${path}?${parameter}=${id}`;
      const answer = await fetch(`http://mock.invalid${target}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const summary = shows.slice('200, '.length).replace(', of a deposit', '');
      const shown = {
        summary,
        description: `To \`${target}\` with \`Authorization: Bearer ${key}\`.`,
        value: await answer.json(),
      };
      const name = summary.replaceAll("'", '').replaceAll(/\W+/g, '-');
      return { endpoint, status: answer.status, shows, name, id, key, shown };
    }),
  );
}

type Example = Awaited<ReturnType<typeof examplesOf>>[number];

const withoutNames = <Schema extends object>({
  $schema: _,
  $id: __,
  ...keywords
}: Schema & { readonly $schema: string; readonly $id: string }) => keywords;

/** A code generator needs both kinds of a membership, to know which date belongs to which. */
function kindsOfMembership() {
  const { title, ...membership } = withoutNames(membershipResult);
  const { is_under_ib, date_joined } = membership.properties;
  const kinds = [
    [true, 'string'],
    [false, 'null'],
  ] as const;
  const oneOf = kinds.map(([value, type]) => ({
    ...membership,
    properties: { is_under_ib: { ...is_under_ib, const: value }, date_joined: { ...date_joined, type } },
  }));
  return { title, oneOf };
}

/** The operation of an endpoint. */
function operationOf(endpoint: Endpoint, examples: readonly Example[], clauses: Clauses) {
  const { parameter, messages, finds } = endpoints[endpoint];
  const own = examples.filter((one) => one.endpoint === endpoint);
  const contentOf = (status: string, schema: object) => {
    const shown = own.filter((one) => `${one.status}` === status).map((one) => [one.name, one.shown]);
    return {
      'application/json': { schema, ...(shown.length > 0 && { examples: Object.fromEntries(shown) }) },
    };
  };
  const { title: _, ...error } = withoutNames(errorBody);
  const errors = Object.entries(messages).map(([status, message]) => {
    const schema = { ...error, properties: { error: { ...error.properties.error, const: message } } };
    const description = clauses[`GET ${endpoint}, ${status}`];
    return [status, { description, content: contentOf(status, schema) }];
  });
  const result = {
    $ref: `#/components/schemas/${finds === 'user' ? 'MembershipResult' : 'ExecutedDepositResult'}`,
  };
  const found = own.filter(({ status }) => status === 200 || status === 404);
  return {
    operationId: endpoint.replace(/-(.)/, (_match, letter: string) => letter.toUpperCase()),
    summary: titles[endpoint],
    description: [
      'Service: own IB only',
      ...(finds === 'deposit' ? ['Deposit states: executed later'] : []),
      'Errors: waiting after 429',
    ]
      .map((name) => clauses[name])
      .join(' '),
    parameters: [
      {
        name: parameter,
        in: 'query',
        required: true,
        description: clauses[`GET ${endpoint}, ${parameter}`],
        schema: { type: 'string', format: 'uuid' },
        examples: Object.fromEntries(
          found.map(({ name, shows, id }) => [name, { summary: shows, value: id }]),
        ),
      },
    ],
    responses: {
      200: { description: clauses[`GET ${endpoint}, 200`], content: contentOf('200', result) },
      ...Object.fromEntries(errors),
    },
  };
}

/** Returns the document. */
export async function openApi(clauses: Clauses): Promise<object> {
  const examples = await examplesOf();
  const keys = [...new Set(examples.map(({ key }) => `\`${key}\``))].join(', ');
  const { host, port } = mock.flags;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner referral (IB) lookup service',
      version,
      description:
        'Two lookups for partners (introducing brokers, IB). A key only finds data of its own partner. The examples are answers of the mock of ib-conformance with its built-in fixture.',
    },
    servers: [
      {
        url: `http://${String(host!.default)}:${String(port!.default)}`,
        description: 'The mock at its default port. Replace it with the {base_url} of the service.',
      },
    ],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(
      endpointNames.map((endpoint) => [
        endpoints[endpoint].path,
        { get: operationOf(endpoint, examples, clauses) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `${clauses['Authentication: partner keys']} Keys of the built-in fixture: ${keys}.`,
        },
      },
      schemas: {
        MembershipResult: kindsOfMembership(),
        ExecutedDepositResult: withoutNames(executedDepositResult),
      },
    },
  };
}
