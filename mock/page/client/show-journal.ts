import type { JournalEntry } from './answers.ts';
import { element } from './element.ts';
import { foreign, timeOfDay } from './words.ts';

/** The requests, newest first, each with the reason of its answer. */
export function journalRows(entries: readonly JournalEntry[]): readonly HTMLElement[] {
  return entries.map((entry) => {
    const { id, at, status, reason, key, method, target, keyInTarget } = entry;
    return element(
      'li',
      { 'data-key': `${id}`, class: status < 400 ? '' : 'refused' },
      element('span', { class: 'status' }, `${status}`),
      element('span', { class: 'reason' }, foreign(reason.replace(/^\d+: /, ''))),
      element('time', { datetime: new Date(at).toISOString() }, timeOfDay(at, 3)),
      element('code', {}, `${foreign(method)} ${foreign(target)}`),
      element(
        'small',
        {},
        [key ?? 'no known key', ...(keyInTarget ? ['a key stood in the URL'] : [])].join(', '),
      ),
    );
  });
}
