/**
 * The two endpoints of the interface: path, parameter, and the exact message of each error status
 * (`interface.md`). Other code names a status, never a message.
 */
export const endpoints = {
  'user-status': {
    path: '/api/ib/user-status',
    parameter: 'user_id',
    messages: {
      400: 'Invalid user_id format',
      401: 'Unauthorized',
      429: 'Too many failed lookups. Please try again later.',
    },
  },
  'deposit-check': {
    path: '/api/ib/deposit-check',
    parameter: 'reference_id',
    messages: {
      400: 'Invalid reference_id format',
      401: 'UNAUTHORIZED',
      404: 'Deposit not found',
      429: 'TOO_MANY_REQUESTS',
    },
  },
} as const;

/** Name of an endpoint of the interface. */
export type Endpoint = keyof typeof endpoints;

export const endpointNames = ['user-status', 'deposit-check'] as const satisfies readonly Endpoint[];

/** Makes a value for each endpoint. */
export const perEndpoint = <Value>(
  make: (endpoint: Endpoint) => Value,
): Readonly<Record<Endpoint, Value>> => ({
  'user-status': make('user-status'),
  'deposit-check': make('deposit-check'),
});

/** Status of an error that the interface names for an endpoint. */
export type ErrorStatus<Name extends Endpoint = Endpoint> = Name extends Endpoint
  ? keyof (typeof endpoints)[Name]['messages']
  : never;

/** The exact message of an error (Errors); undefined if the endpoint has no such status. */
export const messageOf = (endpoint: Endpoint, status: number): string | undefined =>
  (endpoints[endpoint].messages as Readonly<Record<number, string>>)[status];
