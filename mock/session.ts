import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../schemas/generated/types.ts';
import type { Endpoint } from '../schemas/endpoints.ts';
import { Problem } from '../schemas/problem.ts';
import { createService, reference, type Service } from './behaviour.ts';
import { parseChaos, parseQueuedChaos, type Chaos } from './chaos.ts';
import { createJournal, createRedactor, type Journal, type JournalLine, type Redact } from './journal.ts';
import { sessionDefaults, type Deviation, type MockData } from './options.ts';
import { factsOf, lookUp, newWorld, worldNameProblem, type ApiKey, type Facts, type World } from './world.ts';

/** The clock of a world: at the base time `since` (ms) it shows `at` (Unix ms), and runs `rate` times as fast. */
export interface Clock {
  readonly at: number;
  readonly since: number;
  /** 0: stopped. */
  readonly rate: number;
}

/** A world with its data, clock, behaviour, chaos and journal. */
export interface Sandbox {
  /** Empty for the main world. */
  readonly name: string;
  readonly journal: Journal;
  world: World;
  clock: Clock;
  service: Service;
  deviation: Deviation | undefined;
  chaos: Chaos;
}

/** A running mock without its transport. */
export interface Session {
  readonly options: MockData;
  /** The base clock of all worlds, in Unix ms. */
  readonly now: () => number;
  /** A monotonic clock, in ms. */
  readonly elapsed: () => number;
  /** Unix ms. */
  readonly startedAt: number;
  readonly watchers: Set<Watcher>;
  /** The worlds besides the main one, in the order of their creation. */
  readonly sandboxes: Map<string, Sandbox>;
  fixture: Fixture;
  facts: Facts;
  arePublicKeys: boolean;
  /** Restored by a reset of the mock. */
  readonly initial: Pick<Session, 'fixture' | 'facts' | 'arePublicKeys'>;
  /** Keys that were added to a world since the last reset of the mock. */
  readonly added: Map<string, ApiKey>;
  redact: Redact;
  main: Sandbox;
  /** Number of answered requests in all worlds. */
  answered: number;
}

/** Changes that time alone caused. */
export interface Due {
  /** reference_id of each deposit that was executed. */
  readonly deposits: readonly string[];
  /** Name of each key that expired. */
  readonly keys: readonly string[];
  /** Rate limits that ended. */
  readonly limiters: readonly { readonly endpoint: Endpoint; readonly key: string }[];
}

/** An event of a mock. */
export type MockEvent =
  | { readonly kind: 'request'; readonly entry: JournalLine }
  | { readonly kind: 'clock'; readonly world: string; readonly now: number; readonly due: Due }
  /** A change by a caller; `what` describes it. */
  | { readonly kind: 'change'; readonly world: string; readonly what: string };

export type Watcher = (event: MockEvent) => void;

/** Sends an event to all watchers. */
export function emit({ watchers }: Session, event: MockEvent): void {
  for (const watch of watchers) watch(event);
}

/** Tells all watchers about a change in a world. */
export function emitChange(session: Session, { name }: Sandbox, what: string): void {
  emit(session, { kind: 'change', world: name, what });
}

type RefusalDetails = Readonly<Record<string, unknown>> & {
  readonly place?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The mock refuses a call. The message gives the reason. */
export class Refusal extends Problem {
  readonly status: number;
  readonly details: RefusalDetails;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super('usage', message);
    this.name = 'Refusal';
    this.status = status;
    this.details = details;
  }
}

/** Creates a Refusal with status 400 and the wrong place in the request; an empty place is the whole body. */
export const badRequest = (place: string, message: string) =>
  new Refusal(400, place === '' ? message : `${place} ${message}`, { place: place || 'body' });

/** A monotonic clock, in ms. `performance` would load a module at the mock's start. */
export function elapsedMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/**
 * Creates a mock without a transport.
 *
 * @param elapsed a monotonic clock, in ms
 * @throws Problem with code `usage` if `chaos` is wrong
 */
export function createSession(options: MockData, elapsed = elapsedMs): Session {
  const { fixture = builtIn as Fixture, clock } = options;
  const now = typeof clock === 'object' ? () => clock.now() : machineTime(elapsed);
  const { arePublicKeys = options.fixture === undefined } = options;
  const initial = { fixture, facts: factsOf(fixture), arePublicKeys };
  const base = { options, facts: initial.facts, now, startedAt: now() };
  return {
    ...base,
    ...initial,
    initial,
    elapsed,
    watchers: new Set(),
    added: new Map(),
    sandboxes: new Map(),
    redact: createRedactor([...initial.facts.keys.values()]),
    main: createSandbox(base, ''),
    answered: 0,
  };
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

type SandboxSource = Pick<Session, 'options' | 'facts' | 'now' | 'startedAt'>;

function createSandbox({ options, facts, now, startedAt }: SandboxSource, name: string): Sandbox {
  const { journal = sessionDefaults.journal, chaosSeed: seed = sessionDefaults.chaosSeed } = options;
  const { chaos = [], firstChaos, deviation, clock: given = 'real' } = options;
  const mode = typeof given === 'object' ? (given.mode ?? 'real') : given;
  // A frozen clock shows the start of the mock, even in a world that is created later.
  const at = mode === 'frozen' ? startedAt : now();
  const queue = firstChaos === undefined ? [] : [parseQueuedChaos(firstChaos, 1)];
  return {
    name,
    journal: createJournal(journal),
    world: newWorld(facts, at),
    clock: { at, since: at, rate: mode === 'frozen' ? 0 : 1 },
    service: newService(options, deviation),
    deviation,
    chaos: { plan: parseChaos(chaos), seed, drawn: new Map(), queue },
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
export function newService({ behaviour = reference, basePath }: MockData, deviation: Deviation | undefined) {
  return createService(deviation === undefined ? behaviour : deviation.change(behaviour), basePath);
}

/** Maximum number of worlds besides the main one. It protects the memory. */
export const MAX_WORLDS = 10_000;

/** Returns why a world cannot be created; undefined if it exists or can be. */
const boundProblem = ({ sandboxes }: Session, name: string) =>
  sandboxes.size >= MAX_WORLDS && !sandboxes.has(name)
    ? `there are ${MAX_WORLDS} worlds already; a reset of the mock removes them`
    : undefined;

/** Returns a world for reading. If it does not exist, returns a new one without adding it to the session. */
export function peekSandbox(session: Session, name: string): Sandbox {
  return name === '' ? session.main : (session.sandboxes.get(name) ?? createSandbox(session, name));
}

/**
 * Returns a world, and creates it on first use.
 *
 * @throws Refusal with 409 if there are too many
 */
export function getSandbox(session: Session, name: string): Sandbox {
  const found = peekSandbox(session, name);
  if (name === '') return found;
  const problem = boundProblem(session, name);
  if (problem !== undefined) throw new Refusal(409, problem, { place: 'world' });
  session.sandboxes.set(name, found);
  return found;
}

/** Access to a world: `open` creates it if necessary, `peek` only reads. Do not keep results: a reset replaces them. */
export interface WorldHandle {
  readonly session: Session;
  /** Empty for the main world. */
  readonly name: string;
  /** The caller named no world: what concerns all worlds concerns all of them. */
  readonly isAll: boolean;
  readonly open: () => Sandbox;
  readonly peek: () => Sandbox;
}

/** @throws Refusal with 400 for an invalid name */
export function worldHandle(session: Session, name: string, isAll = false): WorldHandle {
  const wrong = worldNameProblem(name);
  if (wrong !== undefined) throw badRequest('world', wrong);
  const [open, peek] = [() => getSandbox(session, name), () => peekSandbox(session, name)];
  return { session, name, isAll, open, peek };
}

/** Resets data, clock, limiters, behaviour and journal of one world to the fixture. */
export function resetWorld(session: Session, name: string): void {
  if (name === '') session.main = createSandbox(session, '');
  else session.sandboxes.delete(name);
  emit(session, { kind: 'change', world: name, what: 'reset' });
}

/** Resets the mock to its start, with only the main world, and serves `served`. */
export function resetAll(session: Session, served: Session['initial'] = session.initial): void {
  Object.assign(session, served);
  session.sandboxes.clear();
  session.added.clear();
  session.redact = createRedactor([...session.facts.keys.values()]);
  resetWorld(session, '');
}

/**
 * Serves another fixture until the next reset of the mock, and resets everything.
 *
 * @throws Refusal with 400 if it is empty
 */
export function replaceFixture(session: Session, fixture: Fixture): void {
  if (Object.keys(fixture).length === 0)
    throw badRequest('', 'the fixture is empty; POST /__admin/reset restores the initial one');
  resetAll(session, { fixture, facts: factsOf(fixture), arePublicKeys: false });
}

/** Redacts an added key in all journals, even after its world was removed. */
export function redactKey(session: Session, key: ApiKey): void {
  // A test may add the same key to many worlds.
  if (session.added.has(key.key)) return;
  session.added.set(key.key, key);
  session.redact = createRedactor([...session.facts.keys.values(), ...session.added.values()]);
}

/**
 * Returns the world that an Authorization field names: `Bearer northwind-key~mine` is northwind-key in the
 * world `mine`. Undefined: the main world, as for a known key that contains `~`. `problem` says why the name
 * is invalid.
 */
export function addressedWorld(session: Session, authorization: string) {
  const [, credential = ''] = /^bearer +(\S.*)$/i.exec(authorization) ?? [];
  if (lookUp(session.main.world.keys, credential) !== undefined) return undefined;
  for (let at = credential.lastIndexOf('~'); at > 0; at = credential.lastIndexOf('~', at - 1)) {
    const name = credential.slice(at + 1);
    const key = credential.slice(0, at);
    const added = session.sandboxes.get(name)?.world.keys.changed;
    if (!session.facts.keys.has(key) && added?.has(key) !== true) continue;
    const why = name === '' ? 'is missing' : worldNameProblem(name);
    const problem = why ? `the world name after ~ ${why}` : boundProblem(session, name);
    return { name, problem, authorization: authorization.slice(0, at - credential.length) };
  }
  return undefined;
}
