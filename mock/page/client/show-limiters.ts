import type { Answers, Gauge } from './answers.ts';
import { element } from './element.ts';
import { mockNow, mockTimeAfter, type Received } from './model.ts';
import { counted, duration } from './words.ts';

/** So many gauges are shown, the fullest ones. */
const MOST_GAUGES = 12;

/** The thresholds for all keys, in words. */
export function thresholds({ limits }: Answers['limits']): string {
  const { 'user-status': user, 'deposit-check': deposit } = limits;
  const parts = [
    ...(user ? [`${counted(user.failedLookups)} failed lookups in ${user.windowSeconds} s`] : []),
    ...(deposit ? [`${counted(deposit.requests)} deposit checks in ${deposit.windowSeconds} s`] : []),
  ];
  return parts.length === 0 ? 'No limits for all keys.' : `Each key: ${parts.join(', ')}.`;
}

/** How full the windows are, the fullest first, and how many of them that is. */
export function gauges(answer: Received<Answers['limits']>) {
  const filled = answer.gauges
    .map((gauge) => still(gauge, answer))
    .filter(({ counted: count }) => count > 0)
    .toSorted((one, other) => other.counted / other.most - one.counted / one.most);
  const shown = filled.slice(0, MOST_GAUGES);
  const words =
    shown.length < filled.length ? `the fullest ${shown.length} of ${counted(filled.length)}` : '';
  return { rows: shown.map(gaugeOf), words: filled.length === 0 ? 'all empty' : words };
}

/** A gauge by now: what is over lets go without a word from the mock. */
function still(gauge: Gauge, answer: Received<object>): Gauge {
  const freesInMs = mockTimeAfter(gauge.freesInMs, answer) - mockNow();
  return freesInMs > 0 ? { ...gauge, freesInMs } : { ...gauge, counted: 0, isLimited: false, freesInMs: 0 };
}

function gaugeOf({ endpoint, key, counted: count, most, isLimited, freesInMs }: Gauge): HTMLElement {
  const label = `${endpoint} ${key}`;
  const words = `${counted(count)} of ${counted(most)}`;
  return element(
    'li',
    { 'data-key': label, class: isLimited ? 'limited' : '' },
    element('span', {}, endpoint, element('small', {}, key)),
    element('span', { class: 'number' }, words, element('small', {}, stateOf(isLimited, freesInMs))),
    element('meter', { 'aria-label': label, max: `${most}`, value: `${Math.min(count, most)}` }, words),
  );
}

const stateOf = (isLimited: boolean, freesInMs: number) =>
  `${isLimited ? 'limited, ' : ''}frees in ${duration(freesInMs)}`;
