import { checkLines } from './checkup.ts';
import type { Render, sweepFormats } from './formats.ts';
import { safeJson } from './json.ts';
import { junitDocument } from './junit.ts';
import { cell, code, prose } from './markdown-text.ts';
import { duration, hanging, printable, screenOf } from './text.ts';

/** Tests have to survive a state (stay green) or notice it (go red); `advice`: they had better survive it. */
export type SweptKind = 'survive' | 'advice' | 'notice';

/** How the tests ran in a state. */
export interface SweptRun {
  readonly isGreen: boolean;
  /** Such as `exit code 1`. */
  readonly ended: string;
  readonly durationMs: number;
  readonly requests: number;
  /** Requests that the state answered otherwise. */
  readonly changed: number;
}

interface SweptState {
  readonly id: string;
  readonly kind: SweptKind;
  readonly what: string;
  readonly advice: string;
  readonly outcome: 'passed' | 'failed' | 'notReached' | 'notRun';
  readonly run?: SweptRun;
}

/** A rule of the scorecard that the client broke, and the states in which it did. */
export interface BrokenRule {
  readonly rule: string;
  readonly title: string;
  readonly advice: string;
  readonly states: readonly string[];
}

/** What the tests of a client made of each state of the mock. */
export interface Swept {
  readonly format: 'ib-conformance/sweep/1';
  readonly version: string;
  /** `incomplete`: no state that is more than advice was reached. */
  readonly verdict: 'ready' | 'notReady' | 'incomplete';
  readonly interrupted: boolean;
  readonly command: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly states: readonly SweptState[];
  readonly broken: readonly BrokenRule[];
}

const required = ({ states }: Pick<Swept, 'states'>) => states.filter(({ kind }) => kind !== 'advice');

/** A sweep with its verdict. */
export function sweepOf(found: Omit<Swept, 'format' | 'verdict'>): Swept {
  const outcomes = new Set(required(found).map(({ outcome }) => outcome));
  const verdict = outcomes.has('failed') ? 'notReady' : outcomes.has('passed') ? 'ready' : 'incomplete';
  return { format: 'ib-conformance/sweep/1', ...found, verdict };
}

const titles: Readonly<Record<SweptKind, string>> = {
  survive: 'must survive: the tests stay green',
  advice: 'worth surviving (advice only)',
  notice: 'must notice: the tests go red',
};
const kinds = Object.keys(titles) as SweptKind[];
const looks = {
  passed: ['ok', '✓', 'passed'],
  failed: ['problem', '✗', 'failed'],
  notReached: ['unknown', '?', 'not reached'],
  notRun: ['unknown', '?', 'not run'],
} as const;
const MAX_TEXT = 600;

function runWords({ outcome, run }: SweptState): string {
  if (run === undefined) return 'not run';
  const words = run.isGreen ? 'green' : `red (${run.ended})`;
  return outcome === 'notReached' ? `not reached, ${words}` : words;
}

function headline(swept: Swept): string {
  const { verdict, interrupted, durationMs } = swept;
  const parts = Object.entries(looks).flatMap(([wanted, [, , words]]) => {
    const { length } = required(swept).filter(({ outcome }) => outcome === wanted);
    return length === 0 ? [] : `${length} ${words}`;
  });
  const so = `${interrupted ? 'interrupted, so far ' : ''}${verdict === 'notReady' ? 'not ready' : verdict}`;
  return `${so}: of the required states, ${parts.join(', ') || 'none was chosen'}, in ${duration(durationMs)}`;
}

function renderConsole(swept: Swept, options: Parameters<typeof screenOf>[0]): string {
  const screen = screenOf(options);
  const { paint, width } = screen;
  const groups = kinds.map((kind) => {
    const own = swept.states.filter((state) => state.kind === kind);
    const checks = own.map((state) => ({
      subject: state.id,
      outcome: looks[state.outcome][0],
      words: `${runWords(state)}: ${state.what}`,
      ...(state.outcome === 'failed' && { fix: state.advice }),
    }));
    return [titles[kind], checks] as const;
  });
  const rules = swept.broken.map(({ rule, title, advice, states }) => {
    const words = `not kept: ${title} (${states.join(', ')})`;
    return { subject: rule, outcome: 'problem' as const, words, fix: advice };
  });
  const lines = [...groups, ['what the client did, by the scorecard', rules] as const].flatMap(
    ([title, checks]) =>
      checks.length === 0 ? [] : ['', paint('loud', title), ...checkLines(checks, screen)],
  );
  const about = hanging(`${printable(swept.command, MAX_TEXT)}, ib-conformance ${swept.version}`, width);
  const tone = swept.verdict === 'ready' ? 'good' : 'bad';
  const end = hanging(headline(swept), width).map((line) => paint('loud', paint(tone, line)));
  return `${[...about.map((line) => paint('quiet', line)), ...lines, '', ...end].join('\n')}\n`;
}

function renderMarkdown(swept: Swept): string {
  const rows = swept.states.map((state) => {
    const [, mark] = looks[state.outcome];
    return [mark, cell(state.id, MAX_TEXT), state.kind, runWords(state), prose(state.what, MAX_TEXT)];
  });
  const head = ['', 'state', 'kind', 'run', 'what the mock did'];
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const items = swept.broken.map(({ rule, advice, states }) => {
    return `- **not kept** ${code(rule, MAX_TEXT)} (${states.join(', ')}): ${prose(advice, MAX_TEXT)}`;
  });
  const blocks = [`## ${headline(swept)}`, `Run: ${code(swept.command, MAX_TEXT)}`, table.join('\n')];
  return `${[...blocks, ...(items.length === 0 ? [] : [items.join('\n')])].join('\n\n')}\n`;
}

/** What was not reached, and what is only advice, is skipped. */
function renderJunit({ command, version, verdict, startedAt, states }: Swept): string {
  const facts = { verdict, command, 'ib-conformance': version };
  const caseOf = (state: SweptState) => {
    const kind = state.outcome === 'failed' && state.kind !== 'advice' ? 'failure' : 'skipped';
    const message = `${runWords(state)}: ${state.what} To do: ${state.advice}`;
    const shown = state.outcome === 'passed' ? undefined : kind;
    return { name: state.id, kind: shown, type: state.outcome, message, lines: [] } as const;
  };
  return junitDocument(
    kinds.map((kind) => {
      const cases = states.filter((state) => state.kind === kind).map(caseOf);
      return { name: kind, facts, startedAt, cases };
    }),
  );
}

/** Every format of the report of a sweep. */
export const sweepReports = {
  console: renderConsole,
  json: (swept) => `${safeJson(swept, 2)}\n`,
  junit: renderJunit,
  markdown: renderMarkdown,
} as const satisfies Record<(typeof sweepFormats)[number], Render<Swept>>;
