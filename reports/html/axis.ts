import { html, type Markup } from './markup.ts';

/** A place on an axis, in percent of the width of its chart. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Lines and labels under a plot of so many pixels. Labels at the ends stay within the chart. */
export function axis(ticks: readonly Tick[], height: number): Markup {
  return html`${ticks.map(
    ({ at, label }) =>
      html`<line class="grid" x1="${percent(at)}" x2="${percent(at)}" y1="0" y2="${height}" />
        <text class="tick" x="${percent(at)}" y="${height + 16}" text-anchor="${anchorAt(at)}"
          >${label}</text
        >`,
  )}`;
}

/** Which part of a text stands at a place, so that all of it is seen. */
export function anchorAt(at: number): 'start' | 'middle' | 'end' {
  if (at < 10) return 'start';
  return at > 90 ? 'end' : 'middle';
}

/** `12.34%` */
export const percent = (part: number) => `${Number(part.toFixed(2))}%`;

/** Pixels to a tenth. */
export const pixels = (length: number) => Number(length.toFixed(1));
