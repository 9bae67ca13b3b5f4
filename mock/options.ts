import type { Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import type { Behaviour } from './behaviour.ts';

// The command line's flags import this file, so it must not load other modules.

/** Initial mode of the clocks: `real` runs, `frozen` stands still. */
export const clockModes = ['real', 'frozen'] as const;
export type ClockMode = (typeof clockModes)[number];

/** Defaults: requests in a journal, chaos seed. */
export const sessionDefaults = { journal: 1000, chaosSeed: 1 } as const;

/** Allowed whole numbers, for the command's flags and for the options of `startMock`. */
export const ranges = {
  port: [0, 65_535],
  journal: [0, 1_000_000],
  chaosSeed: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
} as const;

/** Options that `startMock` and `createMock` replace by what they stand for. */
export interface NamedOptions {
  /** Values for `${NAME}` in the keys of the fixture. Default: the environment of the process. */
  readonly env?: Environment;
  /** Id of a fault, or of a variant. */
  readonly fault?: string | undefined;
  readonly variant?: string | undefined;
  /** `off` removes the limits of the fixture. */
  readonly limits?: 'on' | 'off' | undefined;
}

/** A fault or variant with its id. */
export interface Deviation {
  readonly id: string;
  readonly change: (behaviour: Behaviour) => Behaviour;
}

/** Options of a mock, with or without a socket. */
export interface MockData {
  /** Default: the built-in fixture. */
  readonly fixture?: Fixture;
  /** Initial mode of the clocks, or a time source (Unix ms) with an optional mode. Default: the machine's clock. */
  readonly clock?: ClockMode | { now(): number; readonly mode?: ClockMode | undefined };
  readonly basePath?: string | undefined;
  /** Default: the conforming reference. */
  readonly behaviour?: Behaviour | undefined;
  readonly deviation?: Deviation | undefined;
  /** Kinds and rates of chaos, such as `500:0.1`, `reset:0.02`, `timeout`, `truncate` and `slow:200ms..2s`. */
  readonly chaos?: readonly string[];
  /** Chaos for the first request of each world, such as `503` or `reset`. */
  readonly firstChaos?: string | undefined;
  /** Decides which requests get chaos. */
  readonly chaosSeed?: number | undefined;
  /** Maximum number of requests in the journal of a world. */
  readonly journal?: number | undefined;
  /** The keys of the fixture are not secret and may be shown. Default: only for the built-in fixture. */
  readonly arePublicKeys?: boolean | undefined;
}
