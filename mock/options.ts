import type { Fixture } from '../schemas/generated/types.ts';
import type { Behaviour } from './behaviour.ts';

// The flags of the command line import this file: it must load nothing.

/** How clocks begin: `real` runs, `frozen` stands still. */
export const clockModes = ['real', 'frozen'] as const;
export type ClockMode = (typeof clockModes)[number];

/** Defaults: worlds beside the main one, requests that each of them keeps, seed of the chaos. */
export const sessionDefaults = { maxWorlds: 100, journal: 1000, chaosSeed: 1 } as const;

/** A deviation from the behaviour, by its id. */
export interface Deviation {
  readonly id: string;
  readonly change: (behaviour: Behaviour) => Behaviour;
}

/** What a mock serves and how, with or without a socket. */
export interface MockData {
  /** The built-in one where it is missing. */
  readonly fixture?: Fixture;
  /** How the clocks begin, or the source of time (Unix ms), or both; the machine's clock where it is missing. */
  readonly clock?: ClockMode | { now(): number; readonly mode?: ClockMode | undefined };
  readonly basePath?: string | undefined;
  /** The reference where it is missing. */
  readonly behaviour?: Behaviour | undefined;
  readonly deviation?: Deviation | undefined;
  /** Chaos by kind and rate, such as `500:0.1`, `reset:0.02`, `timeout`, `truncate` and `slow:200ms..2s`. */
  readonly chaos?: readonly string[];
  /** Chaos that hits the first request of each world, such as `503` or `reset`. */
  readonly firstChaos?: string | undefined;
  /** Decides which requests the chaos hits. */
  readonly chaosSeed?: number | undefined;
  /** Delay (ms) of each response. */
  readonly delayMs?: number | undefined;
  /** Worlds beside the main one. Where there are more, the least recently used one goes. */
  readonly maxWorlds?: number | undefined;
  /** Told the name of each world that goes because there are too many. */
  readonly onEvicted?: ((world: string) => void) | undefined;
  /** Requests that the journal of a world holds. */
  readonly journal?: number | undefined;
  /** The keys of the fixture are no secrets, as those of the built-in one. */
  readonly arePublicKeys?: boolean | undefined;
}

/** Certificate and private key in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}
