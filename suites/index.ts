export { catalogue, suites, type SuiteName } from './catalogue.ts';
export { realClock, virtualClock, type Clock } from './engine/clock.ts';
export { run, type Progress, type RunOptions } from './engine/run.ts';
export { knowledge, type Known, type KnownKey } from './known.ts';
export { redactor } from './engine/evidence.ts';
export { suiteOf, type Requirement } from './requirement.ts';
