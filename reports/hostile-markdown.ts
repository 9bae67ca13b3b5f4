import * as fc from 'fast-check';
import { hostileText } from './any-record.ts';

/** Text that would be something else in Markdown: links, mentions, HTML, ends of code, cells and fences. */
export const hostileMarkdown: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '`',
        '``',
        '```',
        '~~~',
        '|',
        '\\|',
        '\\',
        '@octocat',
        'http://evil.example/',
        'www.evil.example',
        'a@evil.example',
        '[a](http://evil.example)',
        '![a](b)',
        '<img src=x onerror=alert(1)>',
        '<!--',
        '&lt;',
        '# heading',
        '- item',
        '1. item',
        '> quote',
        '**bold**',
        '_em_',
        '~~gone~~',
        '[^1]',
        ':tada:',
        ' ',
        '---',
        '$x$',
      ),
      fc.string(),
      hostileText,
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));
