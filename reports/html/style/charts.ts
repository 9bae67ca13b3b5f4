import { html } from '../markup.ts';

/** Figures and charts. Lengths across are parts of the width, so that letters keep their size. */
export const chartStyle = html`<style>
  .figures {
    width: 100%;
  }

  @media (width < 32rem) {
    .figures :is(th, td) {
      padding-inline-end: 0.25rem;
      font-size: 0.75rem;
    }

    .figures :is(thead th, td) {
      overflow-wrap: normal;
    }
  }

  .figures :is(td, th + th) {
    text-align: end;
  }

  .figures th[scope='row'] {
    font-weight: 400;
  }

  .histograms {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
    gap: 1.5rem 2.5rem;
  }

  figcaption {
    margin-bottom: 0.5rem;
    font-size: 0.875rem;
    font-weight: 600;
  }

  svg {
    display: block;
    shape-rendering: crispedges;
    overflow: visible;
  }

  svg text {
    fill: var(--quiet);
    font-size: 12px;
  }

  svg .marker-name {
    fill: var(--ink);
  }

  svg .grid {
    stroke: var(--line);
  }

  svg .marker {
    stroke: var(--ink);
    stroke-dasharray: 3 3;
  }

  .bar,
  .answers {
    fill: var(--unsure);
    --key: var(--unsure);
  }

  .limited {
    fill: var(--warning);
    --key: var(--warning);
  }

  .troubles {
    fill: var(--bad);
    --key: var(--bad);
  }

  .key {
    margin-top: 0.25rem;
  }

  .key::before {
    display: inline-block;
    width: 0.75rem;
    height: 0.75rem;
    margin-inline-end: 0.375rem;
    background: var(--key);
    content: '';
    vertical-align: -0.0625rem;
  }
</style>`;
