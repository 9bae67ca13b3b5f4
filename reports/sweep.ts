import type { Sweep, SweptState } from '../schemas/generated/types.ts';
import { checkLines } from './checkup.ts';
import type { Render, sweepFormats } from './formats.ts';
import { safeJson } from './json.ts';
import { junitDocument } from './junit.ts';
import { codeCell, code, prose } from './markdown-text.ts';
import { duration, hanging, printable, screenOf } from './text.ts';

const areas: Readonly<Record<SweptState['kind'], string>> = {
  survive: 'must survive: the tests stay green',
  advice: 'worth surviving (advice only)',
  notice: 'must notice: the tests go red',
};
const outcomeStyles = {
  passed: ['ok', '✓', 'passed'],
  failed: ['problem', '✗', 'failed'],
  notReached: ['unknown', '?', 'not reached'],
  notRun: ['unknown', '?', 'not run'],
} as const;
const MAX_TEXT = 600;

const required = (states: readonly SweptState[]) => states.filter(({ kind }) => kind !== 'advice');

/** Returns the verdict on a client. States that are only advice do not count. */
export function sweepVerdict(states: readonly SweptState[]): Sweep['verdict'] {
  const outcomes = new Set(required(states).map(({ outcome }) => outcome));
  if (outcomes.has('failed')) return 'notReady';
  return outcomes.has('passed') ? 'ready' : 'incomplete';
}

function runWords({ outcome, run }: SweptState): string {
  if (run === undefined) return 'not run';
  const words = run.isGreen ? 'green' : `red (${run.ended})`;
  return outcome === 'notReached' ? `not reached, ${words}` : words;
}

function headline({ states, verdict, interrupted, durationMs }: Sweep): string {
  const counts = Object.entries(outcomeStyles).flatMap(([wanted, [, , words]]) => {
    const { length } = required(states).filter(({ outcome }) => outcome === wanted);
    return length === 0 ? [] : `${length} ${words}`;
  });
  const state = `${interrupted ? 'interrupted, state far ' : ''}${verdict === 'notReady' ? 'not ready' : verdict}`;
  return `${state}: of the required states, ${counts.join(', ') || 'none was chosen'}, in ${duration(durationMs)}`;
}

const renderConsole: Render<Sweep> = (sweep, options) => {
  const screen = screenOf(options);
  const { paint, width } = screen;
  const states = sweep.states.map((state) => ({
    area: areas[state.kind],
    subject: state.id,
    outcome: outcomeStyles[state.outcome][0],
    words: `${runWords(state)}: ${state.what}`,
    ...(state.outcome === 'failed' && { fix: state.advice }),
  }));
  const rules = sweep.broken.map(({ rule, title, advice, states: ids }) => ({
    area: 'behaviour of the client, from the scorecard',
    subject: rule,
    outcome: 'problem' as const,
    words: `broken: ${title} (${ids.join(', ')})`,
    fix: advice,
  }));
  const about = hanging(`${printable(sweep.command, MAX_TEXT)}, ib-conformance ${sweep.version}`, width);
  const end = hanging(headline(sweep), width);
  const tone = sweep.verdict === 'ready' ? 'good' : 'bad';
  const lines = [
    ...about.map((line) => paint('quiet', line)),
    ...checkLines([...states, ...rules], screen),
    '',
    ...end.map((line) => paint('loud', paint(tone, line))),
  ];
  return `${lines.join('\n')}\n`;
};

const renderMarkdown: Render<Sweep> = (sweep) => {
  const rows = sweep.states.map((state) => {
    const [, mark] = outcomeStyles[state.outcome];
    return [mark, codeCell(state.id, MAX_TEXT), state.kind, runWords(state), prose(state.what, MAX_TEXT)];
  });
  const head = ['', 'state', 'kind', 'run', 'what the mock did'];
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const items = sweep.broken.map(({ rule, advice, states }) => {
    return `- **broken** ${code(rule, MAX_TEXT)} (${states.join(', ')}): ${prose(advice, MAX_TEXT)}`;
  });
  const title = [`## ${headline(sweep)}`, '', `Run: ${code(sweep.command, MAX_TEXT)}`, ''];
  return `${[...title, ...table, ...(items.length === 0 ? [] : ['', ...items])].join('\n')}\n`;
};

/** Renders the sweep as JUnit. States that were not reached, and failures that are only advice, are skipped. */
const renderJunit: Render<Sweep> = ({ command, version, verdict, startedAt, states }) => {
  const facts = { verdict, command, 'ib-conformance': version };
  const caseOf = (state: SweptState) => {
    const { id: name, kind, outcome, what, advice } = state;
    const shown = outcome === 'failed' && kind !== 'advice' ? 'failure' : 'skipped';
    const message = `${runWords(state)}: ${what} Fix: ${advice}`;
    return {
      name,
      kind: outcome === 'passed' ? undefined : shown,
      type: outcome,
      message,
      lines: [],
    } as const;
  };
  return junitDocument(
    Object.keys(areas).map((name) => {
      const cases = states.filter(({ kind }) => kind === name).map(caseOf);
      return { name, facts, startedAt, cases };
    }),
  );
};

/** Every format of the report of a sweep. */
export const sweepReports = {
  console: renderConsole,
  json: (sweep) => `${safeJson(sweep, 2)}\n`,
  junit: renderJunit,
  markdown: renderMarkdown,
} as const satisfies Record<(typeof sweepFormats)[number], Render<Sweep>>;
