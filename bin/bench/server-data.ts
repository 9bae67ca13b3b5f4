const member = { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' };
const executed = { amountInUsd: 250.5, executedAt: 1_705_314_600_000 };
const error = (text: string) => ({ error: text });

const paths = [
  { path: 'api/ib/user-status', parameter: 'user_id', found: member, statuses: [400, 401, 429] },
  {
    path: 'api/ib/deposit-check',
    parameter: 'reference_id',
    found: executed,
    statuses: [400, 401, 404, 429],
  },
] as const;

const answer = (description: string, example: unknown) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' }, example } },
});

/** The interface for Prism: both endpoints, their errors, an example of each. */
export const openApi = {
  openapi: '3.0.3',
  info: { title: 'Partner referral lookups', version: '1' },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  security: [{ key: [] }],
  paths: Object.fromEntries(
    paths.map(({ path, parameter, found, statuses }) => [
      `/${path}`,
      {
        get: {
          parameters: [
            { name: parameter, in: 'query', required: true, schema: { type: 'string', format: 'uuid' } },
          ],
          responses: {
            200: answer('found', found),
            ...Object.fromEntries(
              statuses.map((status) => [status, answer('an error', error(String(status)))]),
            ),
          },
        },
      },
    ]),
  ),
};

/** The same for Mockoon: 200 with the key of the fixture, 401 without. */
export const mockoonEnvironment = {
  uuid: '0b8a4b0e-5d2f-4a4e-9a39-0a4d6f1f0001',
  lastMigration: 33,
  name: 'Partner referral lookups',
  port: 3000,
  hostname: '127.0.0.1',
  routes: paths.map(({ path, found }, index) => ({
    uuid: `0b8a4b0e-5d2f-4a4e-9a39-0a4d6f1f010${index}`,
    type: 'http',
    method: 'get',
    endpoint: path,
    responses: [
      mockoonResponse(`0b8a4b0e-5d2f-4a4e-9a39-0a4d6f1f020${index}`, 200, found, [
        {
          target: 'header',
          modifier: 'Authorization',
          value: 'Bearer northwind-key',
          invert: false,
          operator: 'equals',
        },
      ]),
      mockoonResponse(`0b8a4b0e-5d2f-4a4e-9a39-0a4d6f1f030${index}`, 401, error('Unauthorized'), [], true),
    ],
  })),
  rootChildren: paths.map((_, index) => ({
    type: 'route',
    uuid: `0b8a4b0e-5d2f-4a4e-9a39-0a4d6f1f010${index}`,
  })),
};

function mockoonResponse(
  uuid: string,
  statusCode: number,
  body: unknown,
  rules: readonly unknown[],
  isDefault = false,
) {
  return {
    uuid,
    statusCode,
    body: JSON.stringify(body),
    bodyType: 'INLINE',
    headers: [{ key: 'Content-Type', value: 'application/json' }],
    rules,
    rulesOperator: 'OR',
    default: isDefault,
  };
}

/** Records for json-server, which can look one up, and knows neither keys nor messages. */
export const records = {
  'user-status': [{ id: 1, user_id: '11111111-1111-4111-8111-111111111111', ...member }],
  'deposit-check': [{ id: 1, reference_id: '44444444-4444-4444-8444-444444444444', ...executed }],
};
