export type { Client } from './engine/client.ts';
export { decodeBody } from './engine/body.ts';
export { catalogue, suites, type SuiteName } from './catalogue.ts';
export { realClock, virtualClock, type Clock } from './engine/clock.ts';
export { run, type Progress, type RunOptions } from './engine/run.ts';
export { stateHookAt } from './engine/state-hook.ts';
export { knowledge, type Known, type KnownKey } from './known.ts';
export { redactor } from './engine/evidence.ts';
export { suiteOf, type Requirement, type StateHook } from './requirement.ts';
