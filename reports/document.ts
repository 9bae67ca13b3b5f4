import { printable, type Tone } from './text.ts';
import type { RunRecord, Timeline, TriedStream } from '../schemas/generated/types.ts';

/**
 * A report as blocks, which the console, Markdown and HTML print. It says what to show; a printer says how, for all
 * reports. Texts are untrusted and of any length: printers escape and shorten them.
 */
export interface Report {
  readonly headline: Mark & { readonly words: string; readonly numbers: string; readonly emoji: string };
  /** What was tested, with which version. */
  readonly about: string;
  /** What explains the headline. */
  readonly conclusion: readonly Block[];
  /** The command that repeats the run. A finding says what to add to it. */
  readonly command?: string;
  /** What to do next: a command, or words. */
  readonly next?: Step;
  readonly sections: readonly Section[];
}

/** The next step of a reader: a command to copy, or words. */
export type Step = { readonly command: string } | { readonly words: string };

/** A part of a report. Printers leave out sections without blocks. */
export interface Section {
  readonly title: string;
  /** What it is for a reader of annotations. `open` is what was not verified. */
  readonly kind?: 'error' | 'warning' | 'open';
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly kind: 'text'; readonly text: string; readonly tone?: Tone }
  | { readonly kind: 'list'; readonly title?: string; readonly items: readonly Item[] }
  | Finding
  | Matrix
  | Picture;

/** What only a page can draw. Other formats leave it out: sentences say what matters. */
export type Picture =
  | { readonly kind: 'timeline'; readonly timeline: Timeline }
  | { readonly kind: 'trial'; readonly id: string; readonly streams: readonly TriedStream[] };

/** Colours repeat what marks and words say. */
export interface Mark {
  readonly mark: string;
  readonly tone: Tone;
}

/** An entry of a list: a name, such as an id, and words on it. */
export interface Item extends Mark {
  readonly name: string;
  readonly words: string;
  /** What shows it. */
  readonly lines?: readonly string[];
  /** What to do about it. */
  readonly fix?: string;
  /** What it is, for a reader of the HTML page, such as the title of a requirement. */
  readonly title?: string;
  /** The finding that it belongs to. */
  readonly anchor?: string;
  /** Whether it is required, for a reader of the HTML page. */
  readonly level?: string;
}

/** Something that is wrong, in full. */
export interface Finding extends Mark {
  readonly kind: 'finding';
  readonly title: string;
  readonly anchor: string;
  readonly facts: readonly Fact[];
}

/** What is known of a finding. `exact` is shown character by character; a `command` is copied. */
export type Fact =
  | {
      readonly kind: 'prose' | 'exact' | 'command';
      readonly label: string;
      readonly text: string;
    }
  | { readonly kind: 'comparison'; readonly expected: string; readonly actual: string };

/** Marks in rows and columns. A format without room for it prints the words of each row. */
export interface Matrix {
  readonly kind: 'matrix';
  readonly columns: readonly string[];
  readonly rows: readonly (Mark & {
    readonly name: string;
    readonly words: string;
    readonly cells: readonly (readonly Item[])[];
  })[];
}

/** Maximum columns of prose and of the target's texts. */
export const MAX_TEXT = 600;
/** Maximum columns of a command, which is useless if it is cut. */
export const MAX_COMMAND = 20_000;
/** Maximum columns of a list of names in words, which is never cut on purpose. */
export const MAX_LIST = 20_000;

/** The headline on one line. */
export const headlineText = ({ headline: { words, numbers } }: Pick<Report, 'headline'>): string =>
  `${words}: ${numbers}`;

/** The words of an entry on one line, with its fix. */
export const wordsWithFix = ({ words, lines = [], fix }: Item): string =>
  [words, ...lines].join('; ') + (fix === undefined ? '' : ` → ${fix}`);

/** A paragraph. */
export const paragraph = (text: string, tone?: Tone): Block => ({
  kind: 'text',
  text,
  ...(tone && { tone }),
});

/** A list, or nothing if it has no entries. */
export const list = (items: readonly Item[], title?: string): readonly Block[] =>
  items.length === 0 ? [] : [{ kind: 'list', items, ...(title !== undefined && { title }) }];

/** The sections that have blocks. */
export const shownSections = ({ sections }: Report): readonly Section[] =>
  sections.filter(({ blocks }) => blocks.length > 0);

/** Width of the labels in lines of facts. */
export const LABEL_WIDTH = 10;

/** Facts as lines with aligned values, each on one line. */
export const factLines = (facts: readonly Fact[]): readonly string[] =>
  facts.flatMap((fact) => {
    if (fact.kind === 'comparison')
      return factLines([
        { kind: 'exact', label: 'expected', text: fact.expected },
        { kind: 'exact', label: 'actual', text: fact.actual },
      ]);
    const most = { prose: MAX_LIST, exact: MAX_TEXT, command: MAX_COMMAND }[fact.kind];
    return [fact.label.padEnd(LABEL_WIDTH) + printable(fact.text, most)];
  });

/** Formats of a report of a run. */
export const reportFormats = ['console', 'html', 'json', 'junit', 'markdown', 'github'] as const;

/** Formats of the report of a sweep. */
export const sweepFormats = ['console', 'json', 'junit', 'markdown'] as const;

/** Name of a format of a report. */
export type ReportName = (typeof reportFormats)[number];

/** Options of a report. */
export interface ReportOptions {
  readonly color: boolean;
  /** Columns of the terminal or log. Formats for files ignore it. */
  readonly width: number;
  /** Whether the console shows every requirement and observation. */
  readonly verbose?: boolean;
  /** File with what a short console report leaves out. Without it, the console names `--verbose`. */
  readonly file?: string;
}

/** Renders a report from its data and options only. */
export type Render<Data = RunRecord> = (data: Data, options: ReportOptions) => string;
