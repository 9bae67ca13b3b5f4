/** Writes the description of the interface, `schemas/openapi.json` (`npm run generate`). */
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { magicValues } from '../mock/magic-values.ts';
import { factsOf } from '../mock/world.ts';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import {
  describeInterface,
  type BodySchema,
  type DescribedExample,
} from '../schemas/interface-description.ts';
import { version } from './version.ts';

const schemas = new URL('../schemas/', import.meta.url);
const output = new URL('openapi.json', schemas);

async function read<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(new URL(file, schemas), 'utf8')) as T;
}

/** What shows each state, with the answer that the interface has for it. */
function examplesOf(fixture: Fixture): readonly DescribedExample[] {
  return magicValues(fixture, factsOf(fixture)).map(({ shows, endpoint, id, key }) => {
    const [, code = '', state = ''] = /^(\d{3}), (.+)$/.exec(shows) ?? [];
    const status = Number(code);
    const messages: Readonly<Record<number, string>> = endpoints[endpoint].messages;
    const body = status === 200 ? resultOf(fixture, endpoint, id, key.partner) : { error: messages[status] };
    return { shows: state, endpoint, status, id, key: key.key, body };
  });
}

/** The body of a 200 (Resources and their fields). */
function resultOf(
  { users = [], deposits = [] }: Fixture,
  endpoint: Endpoint,
  id: string,
  caller: string | null,
) {
  if (endpoint === 'user-status') {
    const member = users.find(({ user_id, partner }) => user_id === id && partner === caller);
    return { is_under_ib: member !== undefined, date_joined: member?.date_joined ?? null };
  }
  const deposit = deposits.find(({ reference_id }) => reference_id === id);
  if (deposit?.state !== 'EXECUTED') throw new Error(`${id} is not EXECUTED`);
  const { state, amountInUsd, executedAt } = deposit;
  return { status: state, amountInUsd, executedAt };
}

const [fixture, membershipResult, executedDepositResult, errorBody, options] = await Promise.all([
  read<Fixture>('built-in.fixture.json'),
  read<BodySchema>('membership-result.schema.json'),
  read<BodySchema>('executed-deposit-result.schema.json'),
  read<BodySchema>('error-body.schema.json'),
  resolveConfig(output),
]);
const description = describeInterface({
  version,
  membershipResult,
  executedDepositResult,
  errorBody,
  examples: examplesOf(fixture),
});
await writeFile(output, await format(JSON.stringify(description), { ...options, filepath: output.pathname }));
