import { badRequest } from '../session.ts';

/** A field of a call: its JSON type and bounds. */
export interface Field {
  readonly type: string | readonly string[];
  readonly minimum?: number;
  readonly items?: { readonly type: string };
  readonly required?: true;
  readonly description?: string;
}
export type Fields = Readonly<Record<string, Field>>;

type TypeOf<Type> = Type extends 'number' | 'integer' ? number : Type extends 'string' ? string : unknown;
export type ValuesOf<Declared extends Fields> = {
  readonly [Name in keyof Declared]:
    TypeOf<Declared[Name]['type']> | (Declared[Name] extends { required: true } ? never : undefined);
};

const quantity = { type: 'number', minimum: 0 } as const;
const count = { type: 'integer', minimum: 1 } as const;
const mandatory = { required: true } as const;

export const timeHint = 'Unix ms, or a text such as "2026-01-01T00:00:00Z"';
const time = { type: ['integer', 'string'], description: timeHint } as const;
const key = { type: 'string', ...mandatory, description: 'a key, or its name in GET /__admin/keys' } as const;

/** The fields of calls. The admin API and the JavaScript functions check them with the same words. */
export const inputs = {
  advance: { seconds: quantity, ms: quantity },
  setClock: { now: { ...time, ...mandatory } },
  freeze: { now: time },
  scale: { rate: { ...quantity, ...mandatory, description: 'how many times as fast' } },
  execute: { amountInUsd: quantity, executedAt: { type: 'integer', minimum: 0 } },
  nextFault: {
    kind: { type: ['string', 'integer'], ...mandatory, description: 'such as 503, "reset" or "slow:2s"' },
    count,
    endpoint: { type: 'string', description: 'only requests to user-status or deposit-check' },
  },
  faults: {
    fault: { type: ['string', 'null'] },
    chaos: { type: ['array', 'null'], items: { type: 'string' } },
    seed: { type: 'integer' },
  },
  key: { key },
  id: { id: { type: 'string', ...mandatory, description: 'the reference_id of a deposit' } },
} as const satisfies Readonly<Record<string, Fields>>;

/**
 * Checks that the body is an object with only declared fields, and returns it.
 *
 * @throws Refusal with 400 and the first wrong field
 */
export function checkFields(declared: Fields, body: unknown): Readonly<Record<string, unknown>> {
  const values = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof values !== 'object' || Array.isArray(values))
    throw badRequest('', 'the body must be a JSON object');
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined)
    throw badRequest(unknown, `is unknown; known: ${Object.keys(declared).join(', ') || 'none'}`);
  for (const [name, field] of Object.entries(declared)) checkField(name, field, values[name]);
  return values;
}

/** Checks one field. The handler checks fields with several types. */
function checkField(name: string, { type, minimum, required, description }: Field, value: unknown): void {
  if (value === undefined && required) throw badRequest(name, `is missing: ${description ?? ''}`);
  if (value === undefined) return;
  // The message does not repeat the value: it may be a key.
  if (type === 'string' && typeof value !== 'string') throw badRequest(name, 'must be a string');
  if (type !== 'number' && type !== 'integer') return;
  const isRight = type === 'number' ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (isRight && Number(value) >= (minimum ?? -Infinity)) return;
  const kind = type === 'number' ? 'a number' : 'a whole number';
  const minimumText = minimum === undefined ? '' : ` of at least ${minimum}`;
  throw badRequest(name, `must be ${kind}${minimumText}, not ${JSON.stringify(value).slice(0, 80)}`);
}
