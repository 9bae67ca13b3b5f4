import { parseDuration } from '../../schemas/values.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import { parseHeaders, parseTarget, parseUrl } from '../network.ts';

/** Defaults of a run; times in ms. */
export const defaults = {
  cases: 1800,
  concurrency: 16,
  timeoutMs: 5000,
  maxDurationMs: 300_000,
  graceMs: 5000,
} as const;

/** Types of flags, and flags shared by commands. */
export const text = { type: 'string', requiresArg: true } as const;
export const file = { ...text, path: 'file' } as const;
export const onOff = { type: 'boolean', default: false } as const;

/** A repeatable flag. */
export const list = { type: 'string', array: true, default: [], requiresArg: true } as const;

/** A repeatable flag with `format` or `format=file`. */
export const outputs = { ...list, path: 'format=file' } as const;

const invalid = (flag: string, given: string, needed: string) =>
  wrongUsage(`--${flag} ${given}: needs ${needed}`);

const number = (pattern: RegExp, min: number, max: number, needed: string) =>
  ({
    ...text,
    isNumber: true,
    coerce: (given: string, flag: string) => {
      const value = Number(given);
      if (pattern.test(given) && value >= min && value <= max) return value;
      throw invalid(flag, given, needed);
    },
  }) as const;

export const wholeNumberFrom = (min: number, max: number) =>
  number(/^-?\d+$/, min, max, `a whole number from ${min} to ${max}`);

/** The same, with a default. */
export const wholeNumberOr = (value: number, min: number, max: number) =>
  ({ ...wholeNumberFrom(min, max), default: String(value) }) as const;

/** A positive decimal number, such as 20 or 0.5. */
export const positiveNumberTo = (max: number) =>
  number(/^\d+(?:\.\d+)?$/, Number.MIN_VALUE, max, `a number above 0, up to ${max}`);

/** A duration such as `500ms`, `90s`, `5m` or `1h`; converted to ms. */
export const duration = {
  ...text,
  coerce: (given: string, flag: string) => {
    const value = parseDuration(given) ?? 0;
    if (value > 0) return value;
    throw invalid(flag, given, 'a time above 0 with a unit, such as 500ms, 90s, 5m or 1h');
  },
} as const;

/** How long to wait for an answer, by default so many ms. A number without a unit is in ms. */
export const timeoutOr = (value: number) =>
  ({
    ...text,
    isNumber: 'or text',
    default: `${value / 1000}s`,
    describe: 'wait at most this long for an answer: 500ms, 5s (without a unit: ms)',
    coerce: (given: string, flag: string) => {
      const ms = parseDuration(/\d$/.test(given) ? `${given}ms` : given) ?? 0;
      if (ms >= 1 && ms <= 600_000) return ms;
      throw invalid(flag, given, 'a time from 1ms to 10m, such as 500ms or 5s (without a unit: ms)');
    },
  }) as const;

export const seed = wholeNumberFrom(-(2 ** 31), 2 ** 31 - 1);

export const config = {
  ...file,
  configurable: 'by variable',
  describe: 'read flags from this file; variables override it',
} as const;

const url = { type: 'string', coerce: (given: string) => parseUrl(given) } as const;

/** The target of `verify` and `doctor`. */
export const targetArgument = {
  type: 'string',
  coerce: (given: string) => parseTarget(given),
  describe: 'base URL of the target, with or without a path',
} as const;

/** Flags for the connection to the target. */
export const network = {
  ca: { ...file, describe: 'trust the certificates in this PEM file' },
  cert: { ...file, describe: 'show this client certificate (PEM) to the target' },
  'cert-key': { ...file, describe: 'use this private key (PEM) of --cert, unless the file of --cert has it' },
  insecure: { ...onOff, describe: 'accept any certificate' },
} as const;

/** Flags for the target and the connection to it. */
export const target = {
  fixture: { ...file, describe: 'read the data of the target from this JSON file' },
  partner: { ...text, describe: 'use the keys of this partner (default: that of the first key)' },
  header: {
    ...list,
    isHeader: true,
    coerce: (given: readonly string[]) => parseHeaders(given),
    describe: "send this header with every request: 'name: value'",
  },
  ...network,
  'state-url': { ...url, requiresArg: true, describe: 'change data through the state hook at this URL' },
  wait: { ...duration, describe: 'wait at most this long until the server answers: 30s, 2m' },
} as const;

/** Flags of `doctor` that `verify` has, too. */
export const doctorFlags = {
  ...target,
  timeout: timeoutOr(3000),
  config,
} as const;
