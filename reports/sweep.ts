import type { Sweep, SweptRule, SweptState } from '../schemas/generated/types.ts';
import { checkSections } from './checkup.ts';
import { toConsole } from './console.ts';
import type { Report, Render, sweepFormats } from './document.ts';
import { safeJson, duration } from './text.ts';
import { junitDocument } from './junit.ts';
import { toMarkdown } from './markdown.ts';

const areas: Readonly<Record<SweptState['kind'], string>> = {
  survive: 'must survive: the tests stay green',
  advice: 'worth surviving (advice only)',
  notice: 'must notice: the tests go red',
  suggest: 'worth noticing (advice only)',
  probe: 'probes: only the rules below count',
};
const outcomeStyles = {
  passed: ['ok', 'passed'],
  failed: ['problem', 'failed'],
  allowed: ['ok', 'allowed'],
  unclear: ['unknown', 'unclear'],
  done: ['ok', 'done'],
  notReached: ['unknown', 'not reached'],
  notRun: ['unknown', 'not run'],
} as const;
const ruleStyles = {
  kept: ['ok', 'kept'],
  broken: ['problem', 'broken'],
  allowed: ['ok', 'broken, allowed'],
  unclear: ['unknown', 'unclear'],
  notSeen: ['unknown', 'not seen'],
} as const;
/** Maximum of states that a rule names. */
const MAX_STATES = 3;
/** Maximum of requests that a rule shows. JSON has all. */
const MAX_REQUESTS = 6;

type Judged = Pick<Sweep, 'states' | 'rules' | 'strict'>;

const isAdvice = ({ kind }: SweptState) => kind === 'advice' || kind === 'suggest';
const required = (states: readonly SweptState[]) =>
  states.filter(({ kind }) => kind === 'survive' || kind === 'notice');
const isBroken = (wanted: SweptRule['level'], { level, outcome }: SweptRule) =>
  level === wanted && outcome === 'broken';

/** Ids of states and rules that are only advice, and that the client does not follow. */
const openAdvice = ({ states, rules }: Judged): readonly string[] => [
  ...states.flatMap((state) => (isAdvice(state) && state.outcome === 'failed' ? state.id : [])),
  ...rules.flatMap((rule) => (isBroken('advice', rule) ? rule.rule : [])),
];

/** Ids of states and rules that the requests do not decide. */
const unclearIn = ({ states, rules }: Judged): readonly string[] => [
  ...states.flatMap((state) => (state.outcome === 'unclear' ? state.id : [])),
  ...rules.flatMap((rule) => (rule.outcome === 'unclear' ? rule.rule : [])),
];

/** Returns the verdict on a client. What is only advice, or unclear, counts if `strict`. */
export function sweepVerdict(judged: Judged): Sweep['verdict'] {
  const { states, rules, strict } = judged;
  const outcomes = new Set(required(states).map(({ outcome }) => outcome));
  const isOpen = strict && openAdvice(judged).length + unclearIn(judged).length > 0;
  if (isOpen || outcomes.has('failed') || rules.some((rule) => isBroken('required', rule))) return 'notReady';
  outcomes.delete('notReached');
  outcomes.delete('notRun');
  return outcomes.size > 0 ? 'ready' : 'incomplete';
}

function ruleWords({ outcome, title, level, states, readings, reason, needs }: SweptRule): string {
  const more = states.length > MAX_STATES ? ` and ${states.length - MAX_STATES} more` : '';
  const named = `${states.slice(0, MAX_STATES).join(', ')}${more}`;
  const shown = states.length === 0 || outcome === 'kept' ? '' : ` (${named})`;
  const label = outcome === 'broken' && level === 'advice' ? 'broken (advice)' : ruleStyles[outcome][1];
  const either = readings === undefined ? '' : `: either ${readings.join(', or ')}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  const missing = needs === undefined ? '' : `: needs ${needs}`;
  return `${label}: ${title}${shown}${either}${why}${missing}`;
}

/** The first requests that a broken or unclear rule shows, and how many more there are. */
function shownRequests({ requests = [] }: SweptRule): readonly string[] {
  const { length } = requests;
  const more = length > MAX_REQUESTS ? [`and ${length - MAX_REQUESTS} more`] : [];
  return [...requests.slice(0, MAX_REQUESTS), ...more];
}

function runWords({ outcome, run }: SweptState): string {
  if (run === undefined) return 'not run';
  const test = run.redTest === undefined ? '' : `; first red test: ${run.redTest}`;
  const words = run.isGreen ? 'green' : `red (${run.ended}${test})`;
  return outcome === 'notReached' || outcome === 'unclear' ? `${outcomeStyles[outcome][1]}, ${words}` : words;
}

function headline(sweep: Sweep) {
  const { states, rules, verdict, interrupted, durationMs } = sweep;
  const counts = Object.entries(outcomeStyles).flatMap(([wanted, [, words]]) => {
    const { length } = required(states).filter(({ outcome }) => outcome === wanted);
    return length === 0 ? [] : `${length} ${words}`;
  });
  const broken = rules.flatMap((rule) => (isBroken('required', rule) ? rule.rule : []));
  if (broken.length > 0) counts.push(`broken: ${broken.join(', ')}`);
  const advice = openAdvice(sweep).join(', ');
  const open = advice === '' ? '' : `, with open advice (${advice})`;
  const unclear = unclearIn(sweep).join(', ');
  const either = unclear === '' ? '' : `, unclear: ${unclear}`;
  const state = `${interrupted ? 'interrupted, state far ' : ''}${verdict === 'notReady' ? 'not ready' : verdict}`;
  const numbers = `of the required states, ${counts.join(', ') || 'none was chosen'}, in ${duration(durationMs)}`;
  return { words: state + open + either, numbers };
}

/** What the tests of a client did in each state, and what the client sent. */
export function sweepReport(sweep: Sweep): Report {
  const states = sweep.states.map((state) => ({
    area: areas[state.kind],
    subject: state.id,
    outcome: outcomeStyles[state.outcome][0],
    words: `${runWords(state)}: ${state.what}`,
    ...((state.outcome === 'failed' || state.outcome === 'unclear') && { fix: state.advice }),
  }));
  const rules = sweep.rules.map((rule) => ({
    area: 'behaviour of the client, from its requests',
    subject: rule.rule,
    outcome: ruleStyles[rule.outcome][0],
    words: ruleWords(rule),
    lines: shownRequests(rule),
    ...(rule.outcome === 'broken' && { fix: rule.advice ?? '' }),
  }));
  const isReady = sweep.verdict === 'ready';
  return {
    headline: {
      ...headline(sweep),
      mark: isReady ? '✓' : '✗',
      emoji: isReady ? '✅' : sweep.verdict === 'notReady' ? '❌' : '❓',
      tone: isReady ? 'good' : 'bad',
    },
    about: `command ${sweep.command}, ib-conformance ${sweep.version}`,
    conclusion: [],
    sections: checkSections([...states, ...rules]),
  };
}

/** Renders the sweep as JUnit. States that were not reached are skipped, and without `strict` what is only advice. */
const renderJunit: Render<Sweep> = ({ command, version, verdict, strict, startedAt, states, rules }) => {
  const facts = { verdict, command, 'ib-conformance': version };
  const caseOf = (state: SweptState) => {
    const { id: name, outcome, what, advice } = state;
    const isFailure = outcome === 'unclear' ? strict : outcome === 'failed' && (strict || !isAdvice(state));
    const shown = isFailure ? 'failure' : 'skipped';
    const kind = outcome === 'passed' || outcome === 'done' ? undefined : shown;
    const message = `${runWords(state)}: ${what}${kind === undefined ? '' : ` Fix: ${advice}`}`;
    return { name, kind, type: outcome, message } as const;
  };
  const caseOfRule = (rule: SweptRule) => {
    const isFailure =
      rule.outcome === 'unclear'
        ? strict
        : rule.outcome === 'broken' && (strict || rule.level === 'required');
    const shown = isFailure ? 'failure' : 'skipped';
    const kind = rule.outcome === 'kept' ? undefined : shown;
    const message = ruleWords(rule) + (rule.advice === undefined ? '' : `. Fix: ${rule.advice}`);
    return { name: rule.rule, kind, type: rule.outcome, message, lines: shownRequests(rule) } as const;
  };
  const suites = Object.keys(areas).map((name) => {
    const cases = states.filter(({ kind }) => kind === name).map(caseOf);
    return { name, facts, startedAt, cases };
  });
  return junitDocument([...suites, { name: 'rules', facts, startedAt, cases: rules.map(caseOfRule) }]);
};

/** Every format of the report of a sweep. */
export const sweepReports = {
  console: (sweep, options) => toConsole(sweepReport(sweep), options),
  json: (sweep) => `${safeJson(sweep, 2)}\n`,
  junit: renderJunit,
  markdown: (sweep) => toMarkdown(sweepReport(sweep)),
} as const satisfies Record<(typeof sweepFormats)[number], Render<Sweep>>;
