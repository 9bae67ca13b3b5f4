import { durationMs, positiveNumber, wholeNumber } from '../values.ts';

/** Defaults of a run; times in ms. */
export const defaults = { cases: 100, concurrency: 16, timeoutMs: 5000, maxDurationMs: 300_000 } as const;

/** Kinds of flags, and flags of several commands. */
export const text = { type: 'string', requiresArg: true } as const;
export const file = { ...text, names: 'file' } as const;
export const onOff = { type: 'boolean', default: false } as const;

/** May be repeated. */
export const list = { type: 'string', array: true, default: [], requiresArg: true } as const;

/** `format` or `format=file`; may be repeated. */
export const outputs = { ...list, names: 'format=file' } as const;

const number = { ...text, isNumber: true } as const;

export const wholeNumberFrom = (min: number, max: number) =>
  ({ ...number, coerce: (given: string, name: string) => wholeNumber(name, given, min, max) }) as const;

export const positiveNumberTo = (max: number) =>
  ({ ...number, coerce: (given: string, name: string) => positiveNumber(name, given, max) }) as const;

/** `500ms`, `90s`, `5m` or `1h`; in ms. */
export const duration = {
  ...text,
  coerce: (given: string, name: string) => durationMs(name, given),
} as const;

export const seed = wholeNumberFrom(-(2 ** 31), 2 ** 31 - 1);

export const config = {
  ...file,
  configurable: 'by variable',
  describe: 'config file (IB_* variables and flags override it)',
} as const;

/** Flags of a target and of the way to it. */
export const target = {
  fixture: { ...file, describe: 'JSON file of what is true of the target' },
  partner: { ...text, describe: 'id of the partner whose key makes the calls' },
  header: { ...list, isHeader: true, describe: "'name: value' to send along" },
  ca: { ...file, describe: 'PEM file of certificates to trust' },
  insecure: { ...onOff, describe: 'do not check certificates' },
  'state-url': { ...text, describe: 'URL of the state hook' },
} as const;
