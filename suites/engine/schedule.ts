import type { BecomingDeposit, Known } from '../known.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import type { Requirement, Scenario, Turn } from '../requirement.ts';

/** Required ones come first: a run that is out of time drops the last ones. */
const rank = ({ level }: Requirement) => ['required', 'recommended', 'observed'].indexOf(level);

/** The scenarios of a run, in order. */
export function schedule(requirements: readonly Requirement[]) {
  const scenarios = requirements
    .filter((requirement): requirement is Scenario => requirement.kind === 'scenario')
    .toSorted((a, b) => rank(a) - rank(b));
  const inTurn = (turn: Turn | undefined) => scenarios.filter((one) => one.turn === turn);
  return {
    /** Those that begin with the run. */
    early: scenarios.filter(({ begin }) => begin !== undefined),
    /** Lanes that run concurrently, one for each endpoint. */
    lanes: (['user-status', 'deposit-check', 'service'] as const).map((endpoint) =>
      inTurn(undefined).filter((one) => one.endpoint === endpoint),
    ),
    alone: inTurn('alone'),
    /** One endpoint after the other: both may share a limiter. */
    limiters: inTurn('last'),
  };
}

const isSoon = ({ becomes: { afterSeconds = Infinity } }: BecomingDeposit) =>
  afterSeconds * 1000 <= SHORT_WAIT_MS;

/** Whether deposits become EXECUTED soon after the start of a run, and only then: they must be looked at early. */
export const isSoonExecuted = ({ becoming }: Pick<Known, 'becoming'>): boolean =>
  becoming.length > 0 && becoming.every(isSoon);

/** Lets work run concurrently, except work that must be alone: it waits for the rest, and the rest for it. */
export function createGate() {
  const waiting: (() => void)[] = [];
  const state = { inside: 0, isClosed: false };
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    pass: async <Result>(isAlone: boolean, work: () => Promise<Result>): Promise<Result> => {
      while (state.isClosed) await change();
      state.isClosed = isAlone;
      if (isAlone) while (state.inside > 0) await change();
      state.inside++;
      try {
        return await work();
      } finally {
        state.inside--;
        state.isClosed &&= !isAlone;
        if (waiting.length > 0) for (const wake of waiting.splice(0)) wake();
      }
    },
  };
}
