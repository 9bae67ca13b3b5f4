import type { ReportName } from '../../../reports/document.ts';
import type { RunRecord } from '../../../schemas/generated/types.ts';

/** What is read in an output: the exit codes that each sign in it fits. */
type Fitting = readonly (readonly number[])[];

/** The exit codes that fit every sign. If an output contradicts itself, there is none. */
export const fitting = (lists: Fitting): readonly number[] =>
  [0, 1, 3, 4, 70, 130].filter((code) => lists.every((list) => list.includes(code)));

/** Signs of exit codes: how a headline begins, a verdict, a mark, the type of an error. */
const headlines: readonly (readonly [words: RegExp, code: number])[] = [
  [/^conformant\b/, 0],
  [/^incomplete \(accepted by --allow-incomplete/, 0],
  [/^nonconformant\b/, 1],
  [/^incomplete\b(?! \(accepted)/, 3],
  [/^unreachable\b/, 4],
  [/^a bug of ib-conformance\b/, 70],
  [/^interrupted after /, 130],
];
const byHeadline = (text = '') => headlines.flatMap(([words, code]) => (words.test(text) ? [code] : []));
const byVerdict: Readonly<Record<string, readonly number[]>> = {
  conformant: [0],
  nonconformant: [1, 70, 130],
  incomplete: [0, 3, 70, 130],
};
const byMark: Readonly<Record<string, readonly number[]>> = {
  '✅': [0],
  '✓': [0],
  '❌': [1],
  '✗': [1],
  '❓': [3, 130],
  '?': [3, 130],
  '❗': [4, 70],
  '!': [4, 70],
};
const byError: Readonly<Record<string, number>> = {
  incomplete: 3,
  unreachable: 4,
  bug: 70,
  interrupted: 130,
};

/** What is read in each output. */
export const readers: Readonly<Record<ReportName, (text: string) => Fitting>> = {
  console: (text) => [byHeadline(text.slice(text.lastIndexOf('\n\n') + 2).split('\n')[0])],
  json: (text) => {
    const { verdict, interrupted, counts, allowIncomplete, targetLost } = JSON.parse(text) as RunRecord;
    if (interrupted || counts.broken > 0) return [byVerdict[verdict]!, [interrupted ? 130 : 70]];
    const isAccepted = allowIncomplete === true && targetLost !== true;
    return [byVerdict[verdict]!, isAccepted || verdict === 'conformant' ? [0, 1] : [1, 3]];
  },
  junit: (text) => {
    const [, verdict] = /<property name="verdict" value="([^"]*)"/.exec(text) ?? [];
    const errors = [...text.matchAll(/ name="([^"]*)"[^>]*>\s*<error type="([^"]*)" message="([^"]*)"/g)];
    const [, message] =
      / name="verdict"[^>]*>\s*<(?:error [^>]*message="|system-out>)([^"<]*)/.exec(text) ?? [];
    return [
      verdict === undefined ? [4, 70] : byVerdict[verdict]!,
      text.includes('<failure ') ? [1, 70, 130] : [0, 3, 4, 70, 130],
      errors.length === 0
        ? [0, 1]
        : errors.map(([, name, type]) => (name === 'verdict' ? byError[type!]! : -1)),
      verdict === undefined ? [4, 70] : byHeadline(message),
      errors.length > 1 ? [] : [0, 1, 3, 4, 70, 130],
    ];
  },
  html: (text) => [
    byHeadline(/<title>(.*)<\/title>/.exec(text)?.[1]),
    byMark[/<h1><span aria-hidden="true">(.)</.exec(text)![1]!]!,
  ],
  markdown: (text) => {
    const [, emoji = '', headline] = /^## (\S+) `?(.*?)`?$/m.exec(text) ?? [];
    return [byHeadline(headline), byMark[emoji]!];
  },
  github: (text) => {
    const [, kind, headline = ''] = /^::(\w+) title=ib-conformance%3A (.*?)::/.exec(text) ?? [];
    return [
      byHeadline(headline.replaceAll('%3A', ':')),
      kind === 'notice' ? [0, 1] : [3, 4, 70, 130],
      text.includes('::error ') ? [1, 3, 4, 70, 130] : [0],
    ];
  },
};
