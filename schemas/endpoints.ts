/**
 * What differs between the endpoints of the interface (`interface.md`): path, parameter, what is found by it, the digits
 * of the UUID versions that are valid, what the limiter counts, by its name in a fixture, and the exact message of each
 * error status. Other code names a status, never a message.
 */
export const endpoints = {
  'user-status': {
    path: '/api/ib/user-status',
    parameter: 'user_id',
    finds: 'user',
    versions: '4',
    counts: 'failedLookups',
    messages: {
      400: 'Invalid user_id format',
      401: 'Unauthorized',
      429: 'Too many failed lookups. Please try again later.',
    },
  },
  'deposit-check': {
    path: '/api/ib/deposit-check',
    parameter: 'reference_id',
    finds: 'deposit',
    versions: '12345678',
    counts: 'requests',
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
export const perEndpoint = <Value>(make: (endpoint: Endpoint) => Value) =>
  Object.fromEntries(endpointNames.map((endpoint) => [endpoint, make(endpoint)])) as Readonly<
    Record<Endpoint, Value>
  >;

/** An endpoint that finds something else. */
export const otherThan = (endpoint: Endpoint): Endpoint =>
  endpointNames.find((one) => endpoints[one].finds !== endpoints[endpoint].finds)!;

/** Whether an endpoint finds users, not deposits. */
export const findsUsers = (endpoint: Endpoint): boolean => endpoints[endpoint].finds === 'user';

/** Whether only UUIDs of version 4 are valid there. */
export const needsVersion4 = (endpoint: Endpoint): boolean => endpoints[endpoint].versions === '4';

/** Whether only failed lookups count at the limiter of an endpoint. */
export const countsFailures = (endpoint: Endpoint): boolean => endpoints[endpoint].counts === 'failedLookups';

/** Status of an error that the interface names for an endpoint. */
export type ErrorStatus<Name extends Endpoint = Endpoint> = Name extends Endpoint
  ? keyof (typeof endpoints)[Name]['messages']
  : never;

/** The exact message of an error (Errors); undefined if the endpoint has no such status. */
export const messageOf = (endpoint: Endpoint, status: number): string | undefined =>
  (endpoints[endpoint].messages as Readonly<Record<number, string>>)[status];
