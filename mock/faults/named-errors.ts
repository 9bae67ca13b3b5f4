import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Fault, Faults } from './rows.ts';

/** An error of the interface (Errors). */
export interface NamedError {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly message: string;
}

export const endpointNames = Object.keys(endpoints) as readonly Endpoint[];
export const errors: readonly NamedError[] = endpointNames.flatMap((endpoint) =>
  Object.entries(endpoints[endpoint].messages).map(([status, message]) => ({
    endpoint,
    status: Number(status),
    message,
  })),
);

/** A table of faults that were made from the table of errors. */
export const faultsOf = (entries: readonly (readonly [string, Fault])[]): Faults =>
  Object.fromEntries(entries);
