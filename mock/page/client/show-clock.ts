import type { ClockShown } from './answers.ts';
import { byId, element } from './element.ts';
import { mockNow } from './model.ts';
import { morphChildren } from './morph.ts';
import { timeOfDay } from './words.ts';

/** Speeds to choose from, in times as fast as time; 0: frozen. */
const speeds = [0, 1, 10, 60, 3600] as const;

let last: ClockShown | undefined;

/** The time of the world, and how it passes. */
export function drawClock(clock: ClockShown): void {
  const now = mockNow();
  byId('time').textContent = timeOfDay(now);
  byId('time').setAttribute('datetime', new Date(now).toISOString());
  byId('date').textContent = `${dayOf(now)}, ${paceOf(clock)}`;
  if (clock === last) return;
  // A choice that is under way is not taken back by the next tick.
  last = clock;
  morphChildren(byId('speeds'), speeds.map(speedOf));
  for (const radio of byId('speeds').querySelectorAll('input'))
    radio.checked = Number(radio.value) === clock.rate;
}

function speedOf(rate: number): HTMLElement {
  const input = element('input', { type: 'radio', name: 'speed', value: `${rate}` });
  return element(
    'label',
    { 'data-key': `${rate}` },
    input,
    element('span', {}, rate === 0 ? 'Frozen' : `${rate}×`),
  );
}

const dayOf = (at: number) =>
  new Date(at).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });

function paceOf({ mode, rate }: ClockShown): string {
  const pace = rate === 0 ? 'frozen' : rate === 1 ? 'running' : `running ${rate} times as fast`;
  return mode === 'poll' ? `${pace}, a second more with each poll of a pending deposit` : pace;
}
