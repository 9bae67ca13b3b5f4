import type { Level, RunRecord } from '../schemas/generated/types.ts';
import { conclusion } from './conclusion.ts';
import { commandLines } from './console-field.ts';
import { outcomes } from './marks.ts';
import { nextStep } from './next-step.ts';
import type { Paint, Tone } from './palette.ts';
import { printable } from './printable.ts';
import { count, duration, several } from './units.ts';
import { hanging } from './wrap.ts';

/** Columns of a note, and of a sentence of the conclusion, at most. */
const MOST_NOTE = 600;
const MOST_SENTENCE = 8_000;

const levels = ['required', 'recommended', 'observed'] as const satisfies readonly Level[];

const tones = {
  conformant: 'good',
  nonconformant: 'bad',
  incomplete: 'unsure',
} as const satisfies Record<RunRecord['verdict'], Tone>;

/** Remarks on the run as a whole. */
export function noteLines({ notes }: RunRecord, width: number): readonly string[] {
  return notes.length === 0
    ? []
    : ['', ...notes.flatMap((note) => hanging(`note: ${printable(note, MOST_NOTE)}`, width))];
}

/** Known faults that fail like the target, and those that showed that the suites can fail. */
export function suspicionLines({ diagnosis = [], canary }: RunRecord, width: number): readonly string[] {
  const suspicions = diagnosis.map(
    ({ fault, what, fit }) =>
      `looks like ${printable(fault, MOST_NOTE)}: ${printable(what, MOST_NOTE)} (fits ${Math.round(fit * 100)} %)`,
  );
  const caught =
    canary === undefined
      ? []
      : [`canary: the mock passed, and the faults ${printable(canary.join(' and '), MOST_NOTE)} were caught`];
  return [suspicions, caught].flatMap((lines) =>
    lines.length === 0 ? [] : ['', ...lines.flatMap((line) => hanging(line, width))],
  );
}

/** How many rows of each level came out how, and what it took. */
export function countLines(record: RunRecord, width: number): readonly string[] {
  const { requests, durationMs, rateLimited } = record;
  const waited = `waited out ${several(rateLimited.answers, 'answer')} with status 429, ${duration(rateLimited.waitedMs)}`;
  const effort = [
    `${several(requests, 'request')} in ${duration(durationMs)}`,
    ...(rateLimited.answers > 0 ? [waited] : []),
  ].join('; ');
  return ['', ...levels.flatMap((level) => tally(record, level, width)), ...hanging(effort, width)];
}

function tally({ requirements }: RunRecord, level: Level, width: number): readonly string[] {
  const rows = requirements.filter((row) => row.level === level);
  const parts = outcomes
    .map((outcome) => ({ outcome, number: rows.filter((row) => row.outcome === outcome).length }))
    .filter(({ number }) => number > 0)
    .map(({ outcome, number }) => `${count(number)} ${outcome}`);
  return rows.length === 0 ? [] : hanging(`${count(rows.length)} ${level}: ${parts.join(', ')}`, width);
}

/** Colour of the verdict: known failures alone only warn. */
function toneOf({ verdict, baseline }: RunRecord): Tone {
  if (baseline === undefined || (baseline.wrong.length === 0 && baseline.verdict === verdict))
    return tones[verdict];
  return baseline.wrong.length > 0 || baseline.verdict === 'nonconformant' ? 'bad' : 'warning';
}

/** Lines that a sentence of the conclusion may take; the more it would take, the fewer ids it names. */
const MOST_LINES = 2;
const MOST_IDS = [6, 3, 1] as const;

/** The verdict, what it rests on, and what to do next: the last lines of the report. */
export function verdictLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const [headline = [], ...rest] = shortest(record, width);
  return [
    '',
    ...headline.map((line) => paint('loud', paint(toneOf(record), line))),
    ...rest.flat(),
    ...nextLines(record, width),
  ];
}

/** The sentences of the conclusion in lines, each with as many ids as there is room for. */
function shortest(record: RunRecord, width: number): readonly (readonly string[])[] {
  const versions = MOST_IDS.map((most) =>
    conclusion(record, most).map((sentence) => hanging(printable(sentence, MOST_SENTENCE), width)),
  );
  return versions[0]!.map(
    (_, at) => versions.find((version) => version[at]!.length <= MOST_LINES)?.[at] ?? versions.at(-1)![at]!,
  );
}

function nextLines(record: RunRecord, width: number): readonly string[] {
  const step = nextStep(record);
  if (step === undefined) return [];
  return 'command' in step ? commandLines('next: ', step.command) : hanging(`next: ${step.words}`, width);
}
