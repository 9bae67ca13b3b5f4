import type { Fixture } from '../schemas/generated/types.ts';
import { reference, type Behaviour } from './behaviour.ts';
import type { Change } from './change.ts';
import type { ChaosPlan } from './chaos.ts';
import { newChaos, type Chaos } from './chaos-state.ts';
import { startClock, timeOf, type Clock, type ClockMode } from './clock.ts';
import { tell, type Watcher } from './events.ts';
import { serviceOf, type Service } from './handler.ts';
import { createJournal, type Journal } from './journal.ts';
import { redactorOf, type Redact } from './redact.ts';
import { sessionDefaults } from './session-defaults.ts';
import { factsOf, worldOf, type ApiKey, type Facts, type World } from './world.ts';

/** A deviation from the behaviour, by the id under which a table has it. */
export interface Deviation {
  readonly id: string;
  readonly change: Change;
}

export interface SessionOptions {
  readonly fixture: Fixture;
  /** The only source of time, in Unix ms. */
  readonly now: () => number;
  /** How the clocks of the worlds begin; `real` where it is missing. */
  readonly clock?: ClockMode | undefined;
  readonly basePath?: string | undefined;
  /** The reference where it is missing. */
  readonly behaviour?: Behaviour | undefined;
  readonly deviation?: Deviation | undefined;
  /** Faults that are drawn for requests; none where it is missing. */
  readonly chaos?: ChaosPlan | undefined;
  /** Decides the draws. */
  readonly chaosSeed?: number | undefined;
  /** How long (ms) each answer is held back. */
  readonly delayMs?: number | undefined;
  /** Ms of a clock that nobody can set. */
  readonly elapsed?: (() => number) | undefined;
  /** Worlds beside the main one; past that the least recently used one is dropped. */
  readonly maxWorlds?: number | undefined;
  /** Requests that the journal of a world holds. */
  readonly journal?: number | undefined;
  /** The keys of the fixture are no secrets, as those of the built-in one. */
  readonly arePublicKeys?: boolean | undefined;
}

/** One world with all that belongs to it: clock, behaviour, chaos, journal. */
export interface Sandbox {
  /** The empty text for the main one. */
  readonly name: string;
  readonly journal: Journal;
  world: World;
  clock: Clock;
  service: Service;
  deviation: Deviation | undefined;
  chaos: Chaos;
}

/** A running mock, without its transport. */
export interface Session {
  readonly options: SessionOptions;
  readonly now: () => number;
  /** Unix ms. */
  readonly startedAt: number;
  readonly watchers: Set<Watcher>;
  /** All but the main one, the least recently used first. */
  readonly sandboxes: Map<string, Sandbox>;
  fixture: Fixture;
  facts: Facts;
  arePublicKeys: boolean;
  /** Port of the service, once it listens, where the admin API has one of its own. */
  servicePort?: number;
  /** Keys that were added to a world since all were reset. */
  readonly added: ApiKey[];
  redact: Redact;
  main: Sandbox;
  /** Requests that were answered in all worlds, ever. */
  answered: number;
}

/** A mock that has answered nothing yet. */
export function createSession(options: SessionOptions): Session {
  const facts = factsOf(options.fixture);
  const startedAt = options.now();
  return {
    options,
    startedAt,
    now: options.now,
    watchers: new Set(),
    added: [],
    sandboxes: new Map(),
    fixture: options.fixture,
    facts,
    arePublicKeys: options.arePublicKeys ?? false,
    redact: redactorOf([...facts.keys.values()]),
    main: createSandbox(options, facts, '', startedAt),
    answered: 0,
  };
}

function createSandbox(options: SessionOptions, facts: Facts, name: string, startedAt: number): Sandbox {
  const clock = newClock(options, startedAt);
  return {
    name,
    journal: createJournal(options.journal ?? sessionDefaults.journal),
    world: worldOf(facts, clock.at),
    clock,
    service: serviceWith(options, options.deviation),
    deviation: options.deviation,
    chaos: newChaos(options.chaos ?? [], options.chaosSeed ?? sessionDefaults.chaosSeed),
  };
}

/** A clock as it is at first; one that begins frozen shows the start of the mock, whenever it is made. */
export function newClock({ clock = 'real', now }: SessionOptions, startedAt: number): Clock {
  return startClock(clock, clock === 'frozen' ? startedAt : now());
}

/** The service with a deviation. Each world has its own: some deviations remember what they saw. */
export function serviceWith(options: SessionOptions, deviation: Deviation | undefined): Service {
  const { behaviour = reference, basePath } = options;
  return serviceOf(deviation === undefined ? behaviour : deviation.change(behaviour), basePath);
}

/** The world of a name, made on first use; the least recently used one makes room. */
export function sandboxNamed(session: Session, name: string): Sandbox {
  if (name === '') return session.main;
  const { sandboxes, options, facts } = session;
  const found = sandboxes.get(name) ?? createSandbox(options, facts, name, session.startedAt);
  sandboxes.delete(name);
  sandboxes.set(name, found);
  const [oldest] = sandboxes.keys();
  if (oldest !== undefined && sandboxes.size > (options.maxWorlds ?? sessionDefaults.maxWorlds))
    sandboxes.delete(oldest);
  return found;
}

/** The world of a name to look at. Looking makes none: where there is none, what is seen is as a new one would be. */
export function sandboxSeen({ main, sandboxes, options, facts, startedAt }: Session, name: string): Sandbox {
  if (name === '') return main;
  return sandboxes.get(name) ?? createSandbox(options, facts, name, startedAt);
}

/** Unix ms that the clock of a world shows. */
export function timeIn(session: Session, sandbox: Sandbox): number {
  return timeOf(sandbox.clock, session.now());
}

/** Everything in one world is again as the fixture has it: data, clock, limiters, behaviour, journal. */
export function resetWorld(session: Session, name: string): void {
  if (name === '') session.main = createSandbox(session.options, session.facts, '', session.startedAt);
  else session.sandboxes.delete(name);
  tell(session.watchers, () => ({ kind: 'change', world: name, what: 'reset' }));
}

/** The main world is as at first, and there is no other. */
export function resetAll(session: Session): void {
  session.sandboxes.clear();
  session.added.length = 0;
  session.redact = redactorOf([...session.facts.keys.values()]);
  resetWorld(session, '');
}

/** Another fixture, and everything as at first. */
export function replaceFixture(session: Session, fixture: Fixture): void {
  session.fixture = fixture;
  session.facts = factsOf(fixture);
  session.arePublicKeys = false;
  resetAll(session);
}

/** A name instead of the value of a key that was added to a world: the journals of others may hold it, also when that world is gone. */
export function redactAdded(session: Session, key: ApiKey): void {
  // A test that adds its key to each world anew adds nothing to look for.
  if (session.added.some((other) => other.key === key.key && other.name === key.name)) return;
  session.added.push(key);
  session.redact = redactorOf([...session.facts.keys.values(), ...session.added]);
}
