import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../schemas/generated/types.ts';
import type { Endpoint } from '../schemas/endpoints.ts';
import { reference } from './behaviour.ts';
import { newChaos, parseChaos, queuedChaos, type Chaos } from './chaos.ts';
import { serviceOf, type Service } from './handler.ts';
import { createJournal, redactorOf, type Journal, type JournalLine, type Redact } from './journal.ts';
import { sessionDefaults, type ClockMode, type Deviation, type MockData } from './options.ts';
import { factsOf, lookIn, worldOf, wrongWorldName, type ApiKey, type Facts, type World } from './world.ts';

/**
 * The time of a world, told from a base clock: at the base time `since` it was `at`, and from there on it
 * passes `rate` times as fast. All times in ms, `at` in Unix ms.
 */
export interface Clock {
  readonly mode: ClockMode;
  readonly at: number;
  readonly since: number;
  /** 0: it stands still. */
  readonly rate: number;
}

/** One world with all that belongs to it: data, clock, behaviour, chaos, journal. */
export interface Sandbox {
  /** The empty text for the main one. */
  readonly name: string;
  readonly journal: Journal;
  readonly firstClock: Clock;
  world: World;
  clock: Clock;
  service: Service;
  deviation: Deviation | undefined;
  chaos: Chaos;
}

/** A running mock, without its transport. */
export interface Session {
  readonly options: MockData;
  /** The base clock of all worlds, in Unix ms. */
  readonly now: () => number;
  /** Ms of a clock that nobody can set. */
  readonly elapsed: (() => number) | undefined;
  /** Unix ms. */
  readonly startedAt: number;
  readonly watchers: Set<Watcher>;
  /** All but the main one, the least recently used first. */
  readonly sandboxes: Map<string, Sandbox>;
  fixture: Fixture;
  facts: Facts;
  arePublicKeys: boolean;
  /** What a reset of the mock leads back to. */
  first: Pick<Session, 'fixture' | 'facts' | 'arePublicKeys'>;
  /** Port of the service, once it listens, where the admin API has one of its own. */
  servicePort?: number;
  /** Keys that were added to a world since all were reset. */
  readonly added: Map<string, ApiKey>;
  redact: Redact;
  main: Sandbox;
  /** Requests that were answered in all worlds, ever. */
  answered: number;
}

/** What fell due while time passed. */
export interface Due {
  /** reference_id of each deposit that was executed. */
  readonly deposits: readonly string[];
  /** Name of each key that expired. */
  readonly keys: readonly string[];
  /** Limiters that answer again. */
  readonly limiters: readonly { readonly endpoint: Endpoint; readonly key: string }[];
}

/** What happens in a mock, for whoever watches it. */
export type MockEvent =
  | { readonly kind: 'request'; readonly entry: JournalLine }
  | { readonly kind: 'clock'; readonly world: string; readonly now: number; readonly due: Due }
  /** Somebody changed something; `what` says it in words. */
  | { readonly kind: 'change'; readonly world: string; readonly what: string };

export type Watcher = (event: MockEvent) => void;

/** Tells all watchers. */
export function tell({ watchers }: Session, event: MockEvent): void {
  for (const watch of watchers) watch(event);
}

/** Tells all watchers that somebody changed something in a world. */
export function tellChange(session: Session, { name }: Sandbox, what: string): void {
  tell(session, { kind: 'change', world: name, what });
}

type RefusalDetails = Readonly<Record<string, unknown>> & {
  readonly place?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The mock cannot do what it was asked to. The message says why. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: RefusalDetails;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.details = details;
  }
}

/** A Refusal with status 400, and the place in the request that is wrong; the empty text is the whole body. */
export const wrongAt = (place: string, message: string) =>
  new Refusal(400, place === '' ? message : `${place} ${message}`, { place: place || 'body' });

/**
 * A mock that has answered nothing yet.
 *
 * @param elapsed ms of a clock that nobody can set
 * @throws Problem of code `usage` where `chaos` is wrong
 */
export function createSession(options: MockData, elapsed?: () => number): Session {
  const { fixture = builtIn as Fixture, clock } = options;
  const now = typeof clock === 'object' ? () => clock.now() : machineTime(elapsed);
  const { arePublicKeys = options.fixture === undefined } = options;
  const first = { fixture, facts: factsOf(fixture), arePublicKeys };
  const base = { options, facts: first.facts, now, startedAt: now() };
  return {
    ...base,
    ...first,
    first,
    elapsed,
    watchers: new Set(),
    added: new Map(),
    sandboxes: new Map(),
    redact: redactorOf([...first.facts.keys.values()]),
    main: createSandbox(base, ''),
    answered: 0,
  };
}

/**
 * The time of the machine in Unix ms, which goes on when somebody sets the machine's clock back.
 * `Date.now` is looked up with each call: a test that fakes Date moves the mock on.
 */
function machineTime(elapsed: () => number = () => 0): () => number {
  let [setBack, last, lastElapsed] = [0, Date.now(), elapsed()];
  return () => {
    const [wall, passed] = [Date.now(), elapsed() - lastElapsed];
    if (wall < last) setBack += last + Math.round(passed) - wall;
    last = wall;
    lastElapsed += passed;
    return wall + setBack;
  };
}

type Base = Pick<Session, 'options' | 'facts' | 'now' | 'startedAt'>;

function createSandbox({ options, facts, now, startedAt }: Base, name: string): Sandbox {
  const { journal, chaos = [], firstChaos, chaosSeed, deviation, clock: given = 'real' } = options;
  const mode = typeof given === 'object' ? (given.mode ?? 'real') : given;
  // A frozen clock shows the start of the mock, whenever its world is made.
  const at = mode === 'frozen' ? startedAt : now();
  const clock = { mode, at, since: at, rate: mode === 'frozen' ? 0 : 1 };
  return {
    name,
    journal: createJournal(journal ?? sessionDefaults.journal),
    world: worldOf(facts, at),
    firstClock: clock,
    clock,
    service: serviceWith(options, deviation),
    deviation,
    chaos: {
      ...newChaos(parseChaos(chaos), chaosSeed ?? sessionDefaults.chaosSeed),
      queue: firstChaos === undefined ? [] : [queuedChaos(firstChaos, 1)],
    },
  };
}

/** The last Unix ms with a year of four digits: clocks stop there. */
export const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Unix ms that a clock shows at a base time. */
export function timeOf({ at, since, rate }: Clock, base: number): number {
  return Math.min(LATEST, rate === 1 ? at + base - since : Math.floor(at + (base - since) * rate));
}

/** Unix ms that the clock of a world shows. */
export function timeIn(session: Session, sandbox: Sandbox): number {
  return timeOf(sandbox.clock, session.now());
}

/** The service with a deviation. Each world has its own, because some deviations remember what they saw. */
export function serviceWith({ behaviour = reference, basePath }: MockData, deviation: Deviation | undefined) {
  return serviceOf(deviation === undefined ? behaviour : deviation.change(behaviour), basePath);
}

/** The world of a name to look at. Where there is none, it shows what a new one would, and makes none. */
export function sandboxSeen(session: Session, name: string): Sandbox {
  return name === '' ? session.main : (session.sandboxes.get(name) ?? createSandbox(session, name));
}

/** The world of a name, made on first use. Where there are too many, the least recently used one goes. */
export function sandboxNamed(session: Session, name: string): Sandbox {
  const found = sandboxSeen(session, name);
  if (name === '') return found;
  const { sandboxes, options } = session;
  sandboxes.delete(name);
  sandboxes.set(name, found);
  const [oldest = ''] = sandboxes.keys();
  const { maxWorlds = sessionDefaults.maxWorlds, onEvicted } = options;
  if (sandboxes.size <= maxWorlds) return found;
  sandboxes.delete(oldest);
  onEvicted?.(oldest);
  tell(session, { kind: 'change', world: oldest, what: 'evicted' });
  return found;
}

/** A world to act on: `here` makes it, `seen` only looks. A reset makes another sandbox: look it up each time. */
export const placeOf = (session: Session, world: string) => ({
  session,
  here: () => sandboxNamed(session, world),
  seen: () => sandboxSeen(session, world),
});

export type Place = ReturnType<typeof placeOf>;

/** Everything in one world is again as the fixture has it: data, clock, limiters, behaviour, journal. */
export function resetWorld(session: Session, name: string): void {
  if (name === '') session.main = createSandbox(session, '');
  else session.sandboxes.delete(name);
  tell(session, { kind: 'change', world: name, what: 'reset' });
}

/** The mock is as it was started, its main world alone; with `served`, but for that. */
export function resetAll(session: Session, served: Session['first'] = session.first): void {
  Object.assign(session, served);
  session.sandboxes.clear();
  session.added.clear();
  session.redact = redactorOf([...session.facts.keys.values()]);
  resetWorld(session, '');
}

/**
 * Serves another fixture, and resets everything.
 *
 * @param isFirst whether a later reset of the mock leads back to it
 * @throws Refusal, 400 where it is empty
 */
export function replaceFixture(session: Session, fixture: Fixture, isFirst: boolean): void {
  if (!isFirst && Object.keys(fixture).length === 0)
    throw wrongAt('', 'the fixture is empty; POST /__admin/reset restores the first one');
  const served = { fixture, facts: factsOf(fixture), arePublicKeys: false };
  if (isFirst) session.first = served;
  resetAll(session, served);
}

/** Redacts a key that was added to a world, in all journals, even after its world is gone. */
export function redactAdded(session: Session, key: ApiKey): void {
  // A test may add the same key to many worlds.
  if (session.added.has(key.key)) return;
  session.added.set(key.key, key);
  session.redact = redactorOf([...session.facts.keys.values(), ...session.added.values()]);
}

/**
 * The world that an Authorization field asks for: `Bearer northwind-key~mine` is the key northwind-key
 * in the world `mine`. Undefined: the main world, as for every key that is known as it stands. `wrong` says
 * why there can be no such world.
 */
export function addressedWorld(session: Session, authorization: string) {
  const [, credential = ''] = /^bearer +(\S.*)$/i.exec(authorization) ?? [];
  if (lookIn(session.main.world.keys, credential) !== undefined) return undefined;
  for (let at = credential.lastIndexOf('~'); at > 0; at = credential.lastIndexOf('~', at - 1)) {
    const name = credential.slice(at + 1);
    const key = credential.slice(0, at);
    const added = session.sandboxes.get(name)?.world.keys.changed;
    if (!session.facts.keys.has(key) && added?.has(key) !== true) continue;
    const why = name === '' ? 'is missing' : wrongWorldName(name);
    const wrong = why && `the name of the world behind ~ ${why}`;
    return { name, wrong, authorization: authorization.slice(0, at - credential.length) };
  }
  return undefined;
}
