import builtIn from '../../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../../schemas/generated/types.ts';
import { createRedactor } from '../../schemas/redact.ts';
import { createService, reference, type Service } from '../server/handler.ts';
import { createJournal, type Journal } from './journal.ts';
import type { NextQueue } from './next.ts';
import { badRequest, Refusal } from '../server/refusal.ts';
import { JOURNAL_SIZE, type MockData } from './options.ts';
import { createWorld, keysOf, lookUp, type World } from '../server/world.ts';

/** The clock of a world: at the base time `since` (ms) it shows `at` (Unix ms), and runs `rate` times as fast. */
export interface Clock {
  readonly at: number;
  readonly since: number;
  /** 0: stopped. */
  readonly rate: number;
}

/** A world: its data with all that belongs to it. */
export interface Sandbox {
  /** Empty for the main world. */
  readonly name: string;
  readonly journal: Journal;
  /** Answers that wait for the next requests. */
  readonly next: NextQueue;
  world: World;
  clock: Clock;
  service: Service;
  deviation: MockData['deviation'];
}

/** What a mock serves. */
interface Served {
  readonly fixture: Fixture;
  readonly arePublicKeys: boolean;
}

/** A running mock without its transport. */
export interface Session {
  readonly options: MockData;
  /** The base clock of all worlds, in Unix ms. */
  readonly now: () => number;
  /** Ms since the start of the mock. */
  readonly elapsed: () => number;
  /** Unix ms. */
  readonly startedAt: number;
  /** Called after each request. */
  readonly waiting: Set<() => void>;
  /** The worlds besides the main one by name, in the order of their creation. */
  readonly sandboxes: Map<string, Sandbox>;
  main: Sandbox;
  served: Served;
  /** Restored by a reset of the mock. */
  readonly initial: Served;
  /** Knows every key that the mock ever had, also after a reset. */
  readonly redactor: ReturnType<typeof createRedactor>;
  /** Number of answered requests in all worlds. */
  answered: number;
}

/** What an operation is about. */
export interface ControlContext {
  readonly session: Session;
  readonly sandbox: Sandbox;
  /** The caller named no world: what concerns all worlds concerns all of them. */
  readonly isAll: boolean;
}

/**
 * Creates a mock without a transport.
 *
 * @param elapsed ms since this call
 */
export function createSession(options: MockData, elapsed = stopwatch(options)): Session {
  const { fixture = builtIn as Fixture, clock } = options;
  const now = typeof clock === 'object' ? () => clock.now() : machineTime(elapsed);
  const { arePublicKeys = options.fixture === undefined } = options;
  const served = { fixture, arePublicKeys };
  const base = { options, served, now, startedAt: now() };
  const redactor = createRedactor();
  addKeys(redactor, served);
  return {
    ...base,
    initial: served,
    elapsed,
    waiting: new Set(),
    sandboxes: new Map(),
    redactor,
    main: createSandbox(base, ''),
    answered: 0,
  };
}

/** Returns a clock that shows the ms since this call, by the given time source or a monotonic clock. */
function stopwatch({ clock }: MockData): () => number {
  const time = typeof clock === 'object' ? () => clock.now() : () => performance.now();
  const begun = time();
  return () => time() - begun;
}

/**
 * Returns a clock (Unix ms) that does not go back if the machine's clock is set back. It reads `Date.now` on
 * each call, so a test with a fake Date moves the mock's clock.
 */
function machineTime(elapsed: () => number): () => number {
  let [setBack, last, lastElapsed] = [0, Date.now(), elapsed()];
  return () => {
    const [wall, passed] = [Date.now(), elapsed() - lastElapsed];
    if (wall < last) setBack += last + Math.round(passed) - wall;
    last = wall;
    lastElapsed += passed;
    return wall + setBack;
  };
}

function createSandbox(
  { options, served, now, startedAt }: Pick<Session, 'options' | 'served' | 'now' | 'startedAt'>,
  name: string,
): Sandbox {
  const { journal = JOURNAL_SIZE, deviation, clock: given = 'real' } = options;
  const mode = typeof given === 'object' ? (given.mode ?? 'real') : given;
  // A frozen clock shows the start of the mock, even in a world that is created later.
  const at = mode === 'frozen' ? startedAt : now();
  return {
    name,
    journal: createJournal(journal),
    next: [],
    world: createWorld(served.fixture, at),
    clock: { at, since: at, rate: mode === 'frozen' ? 0 : 1 },
    service: newService(options, deviation),
    deviation,
  };
}

/** The last Unix ms with a four-digit year. Clocks stop there. */
export const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Returns the Unix ms that a clock shows at a base time. */
export function clockTime({ at, since, rate }: Clock, base: number): number {
  return Math.min(MAX_TIME, rate === 1 ? at + base - since : Math.floor(at + (base - since) * rate));
}

/** Returns the Unix ms that the clock of a world shows now. */
export function timeIn(session: Session, sandbox: Sandbox): number {
  return clockTime(sandbox.clock, session.now());
}

/** Creates a service with a deviation. Each world has its own, because some deviations keep state. */
export function newService({ behaviour = reference, basePath }: MockData, deviation: MockData['deviation']) {
  return createService(deviation === undefined ? behaviour : deviation.change(behaviour), basePath);
}

/** Maximum number of worlds besides the main one. It protects the memory. */
export const MAX_WORLDS = 10_000;

/** Maximum length of the name of a world. */
const MAX_NAME = 100;

/** Returns why a name of a world is invalid, if it is. It is sent in a header field, after the key and `~`. */
function nameProblem({ redactor }: Session, name: string): string | undefined {
  if (redactor.redact(name) !== name) return 'must not contain a key';
  if (name.length > MAX_NAME) return `has ${name.length} characters; the maximum is ${MAX_NAME}`;
  if (/^(?:[!-}](?:[ -}]*[!-}])?)?$/.test(name)) return undefined;
  return 'must be visible ASCII characters other than ~, with spaces only between them';
}

/** Returns why a world cannot be created; undefined if it exists or can be. */
const boundProblem = ({ sandboxes }: Session, name: string) =>
  sandboxes.size >= MAX_WORLDS && !sandboxes.has(name)
    ? `there are ${MAX_WORLDS} worlds already; a reset of the mock removes them`
    : undefined;

/** Returns a world; `main` is the main one. If it does not exist, returns a new one, which is not in the session yet. */
export function peekSandbox(session: Session, name: string): Sandbox {
  return name === '' || name === 'main'
    ? session.main
    : (session.sandboxes.get(name) ?? createSandbox(session, name));
}

/**
 * Adds a world to the session, if it is not in it yet.
 *
 * @throws Refusal with 409 if there are too many
 */
export function keepSandbox(session: Session, sandbox: Sandbox): Sandbox {
  const { name } = sandbox;
  if (name === '') return sandbox;
  const problem = boundProblem(session, name);
  if (problem !== undefined) throw new Refusal(409, problem, { place: 'world' });
  session.sandboxes.set(name, sandbox);
  return sandbox;
}

/** @throws Refusal with 400 for an invalid name of a world */
export function checkWorldName(session: Session, name: string): void {
  const wrong = typeof name === 'string' ? nameProblem(session, name) : 'must be a text';
  if (wrong !== undefined) throw badRequest('world', wrong);
}

/** Resets one world to the fixture. */
export function resetWorld(session: Session, name: string): void {
  if (name === '') session.main = createSandbox(session, '');
  else session.sandboxes.delete(name);
}

/** Resets the mock, with only the main world, and serves `served`. By default that is its start. */
export function resetAll(session: Session, served: Served = session.initial): void {
  session.served = served;
  session.sandboxes.clear();
  addKeys(session.redactor, served);
  resetWorld(session, '');
}

function addKeys({ add }: Session['redactor'], { fixture }: Served): void {
  for (const { key, name, partner } of keysOf(fixture).values()) add({ value: key, name, owner: partner });
}

/**
 * Returns the world that a sent key names: `northwind-key~mine` is northwind-key in the world `mine`. Undefined: the
 * main world, as for a known key that contains `~`. `problem` says why the world cannot be used.
 */
export function addressedWorld(session: Session, credential: string) {
  const mark = credential.lastIndexOf('~');
  if (mark <= 0 || lookUp(session.main.world.keys, credential) !== undefined) return undefined;
  const name = credential.slice(mark + 1);
  const why = name === '' ? 'is missing' : nameProblem(session, name);
  const problem = why ? `the world name after ~ ${why}` : boundProblem(session, name);
  return { name, problem, key: credential.slice(0, mark) };
}
