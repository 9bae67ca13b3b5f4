import type { Report } from './document.ts';
import type { ReportName } from './formats.ts';
import { command } from './github.ts';
import { toHtml } from './html/page.ts';
import { junitDocument } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import { printable } from './text.ts';

/** A run that ended before it had a record, such as one of a target that cannot be reached. */
export interface Stopped {
  readonly ending: 'unreachable' | 'bug' | 'interrupted';
  /** Why it ended. */
  readonly words: string;
  /** A command to copy. */
  readonly next?: string | undefined;
  readonly startedAt: string;
  readonly version: string;
}

const MAX_WORDS = 2_000;

const reportOf = ({ ending, words, next, version }: Stopped): Report => ({
  headline: { text: `${ending}: ${words}`, mark: '!', emoji: '❗', tone: 'bad' },
  about: `ib-conformance ${version}`,
  conclusion: [],
  ...(next !== undefined && { next: { command: next } }),
  sections: [],
});

/** Reports of a run without a record: one error. Programs that read the record get none. */
export const stoppedReports: Partial<Record<ReportName, (stopped: Stopped) => string>> = {
  html: (stopped) => toHtml(reportOf(stopped)),
  markdown: (stopped) => toMarkdown(reportOf(stopped)),
  github: ({ ending, words }) =>
    `${command('error', `ib-conformance: ${ending}`, [printable(words, MAX_WORDS)])}\n`,
  junit: ({ ending, words, startedAt, version }) => {
    const verdict = { name: 'verdict', kind: 'error', type: ending, message: words, lines: [words] } as const;
    return junitDocument([
      { name: 'run', facts: { 'ib-conformance': version }, startedAt, cases: [verdict] },
    ]);
  },
};
