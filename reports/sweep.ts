import { checkLines } from './checkup.ts';
import type { Render, sweepFormats } from './formats.ts';
import { safeJson } from './json.ts';
import { junitDocument } from './junit.ts';
import { cell, code, prose } from './markdown-text.ts';
import { duration, hanging, present, printable, screenOf, several } from './text.ts';

/** Tests have to survive a state (stay green) or notice it (go red); `advice`: they had better survive it. */
export type SweptKind = 'survive' | 'advice' | 'notice';

/** How the tests ran in a state, and what they sent. */
export interface SweptRun {
  readonly isGreen: boolean;
  /** Such as `exit code 1`. */
  readonly ended: string;
  readonly durationMs: number;
  readonly requests: number;
  /** Requests that the state answered otherwise. */
  readonly changed: number;
  /** Rules of the scorecard that the client broke, and by how many requests. */
  readonly broken: readonly BrokenRule[];
}

interface BrokenRule {
  readonly rule: string;
  readonly title: string;
  readonly advice: string;
  readonly requests: number;
}

interface SweptState {
  readonly id: string;
  readonly kind: SweptKind;
  readonly what: string;
  readonly advice: string;
  readonly outcome: 'passed' | 'failed' | 'notReached' | 'notRun';
  readonly run?: SweptRun;
}

/** What the tests of a client made of each state of the mock. */
export interface Swept {
  readonly format: 'ib-conformance/sweep/1';
  readonly version: string;
  /** `incomplete`: no state that is more than advice was reached. */
  readonly verdict: 'ready' | 'not ready' | 'incomplete';
  readonly interrupted: boolean;
  readonly command: string;
  readonly startedAt: string;
  readonly durationMs: number;
  /** Rules that the client broke on the unchanged mock. */
  readonly broken: readonly BrokenRule[];
  readonly states: readonly SweptState[];
}

const required = ({ states }: Pick<Swept, 'states'>) => states.filter(({ kind }) => kind !== 'advice');

/** A sweep with its verdict. */
export function sweepOf(found: Omit<Swept, 'format' | 'verdict'>): Swept {
  const outcomes = new Set(required(found).map(({ outcome }) => outcome));
  const verdict = outcomes.has('failed') ? 'not ready' : outcomes.has('passed') ? 'ready' : 'incomplete';
  return { format: 'ib-conformance/sweep/1', ...found, verdict };
}

const titles: Readonly<Record<SweptKind, string>> = {
  survive: 'must survive: the tests stay green',
  advice: 'worth surviving (advice only)',
  notice: 'must notice: the tests go red',
};
const kinds = Object.keys(titles) as SweptKind[];
const looks = {
  passed: ['ok', '✓'],
  failed: ['problem', '✗'],
  notReached: ['unknown', '?'],
  notRun: ['unknown', '?'],
} as const;
const MAX_TEXT = 600;

function runWords({ outcome, run }: SweptState): string {
  if (run === undefined) return 'not run';
  const words = run.isGreen ? 'green' : `red (${run.ended})`;
  return outcome === 'notReached' ? `not reached, ${words}` : words;
}

function headline(swept: Swept): string {
  const states = required(swept);
  const count = (outcome: SweptState['outcome']) => states.filter((one) => one.outcome === outcome).length;
  const parts = present(
    `${count('passed')} of ${several(states.length, 'required state')} passed`,
    count('failed') > 0 && `${count('failed')} failed`,
    count('notReached') > 0 && `${count('notReached')} not reached`,
    count('notRun') > 0 && `${count('notRun')} not run`,
  );
  const verdict = `${swept.interrupted ? 'interrupted, so far ' : ''}${swept.verdict}`;
  return `${verdict}: ${parts.join(', ')}, in ${duration(swept.durationMs)}`;
}

/** Each rule that the client broke, with the states in which it did. */
function brokenRules({ broken, states }: Swept) {
  const rules = new Map<string, BrokenRule & { readonly where: string }>();
  for (const { id, run } of [{ id: 'unchanged', run: { broken } }, ...states])
    for (const one of run?.broken ?? []) {
      const { where } = rules.get(one.rule) ?? {};
      rules.set(one.rule, { ...one, where: where === undefined ? id : `${where}, ${id}` });
    }
  return [...rules.values()];
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
  const rules = brokenRules(swept).map(({ rule, title, advice, where }) => {
    const words = `not kept: ${title} (${where})`;
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
  const items = brokenRules(swept).map(
    ({ rule, advice, where }) =>
      `- **not kept** ${code(rule, MAX_TEXT)} (${where}): ${prose(advice, MAX_TEXT)}`,
  );
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
