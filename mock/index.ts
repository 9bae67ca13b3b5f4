import { createControls, type ControlledMock } from './controls.ts';
import { resolveOptions } from './controls/start-options.ts';
import type { NamedOptions } from './options.ts';
import * as server from './server.ts';

export { createMock, type InProcessMock, type InProcessOptions } from './in-process.ts';
export { Problem } from '../schemas/problem.ts';
export { Refusal } from './session.ts';
export type { ClockMode, MockData } from './options.ts';
export type { AnsweredRequest } from './server.ts';
export type { HttpRequest, HttpResponse } from './exchange.ts';
export type { ControlledMock, Controls, StateChange } from './controls.ts';
export type { Moved, ShownClock, Time } from './controls/clock.ts';
export type { ListQuery } from './controls/data.ts';
export type { FaultChange, ShownFaults } from './controls/faults.ts';
export type { LimitChange, ShownKey, ShownLimits } from './controls/keys.ts';
export type { RequestQuery } from './controls/requests.ts';
export type { JournalEntry, JournalLine } from './journal.ts';
export type { Gauge } from './limiter.ts';
export type { MagicValue } from './magic-values.ts';
export type { Due, MockEvent, Watcher } from './session.ts';
export type { DepositNow, User } from './world.ts';
export type * from '../schemas/generated/types.ts';

export interface MockOptions extends server.MockOptions, NamedOptions {}

export interface Mock extends ControlledMock, server.ServedMock {}

/**
 * Starts the reference server. Checks the fixture like one from a file.
 *
 * @throws Problem with code `fixture` (one line per problem and place), or `usage` for other options
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function startMock(given: MockOptions = {}): Promise<Mock> {
  const { env, ...options } = resolveOptions(given);
  const { session, ...served } = await server.startMock(options);
  return { ...served, ...createControls(session, env) };
}
