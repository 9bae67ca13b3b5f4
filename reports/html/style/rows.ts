import { html } from '../markup.ts';

/** Requirements in rows, and the choice of what to show. */
export const rowStyle = html`<style>
  .filter {
    display: flex;
    flex-wrap: wrap;
    gap: 0.375rem;
    border: 0;
  }

  .filter legend {
    float: inline-start;
    padding: 0.25rem 0.5rem 0.25rem 0;
  }

  .filter label {
    padding: 0.25rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: 2rem;
    cursor: pointer;
  }

  .filter label:has(:checked) {
    border-color: var(--ink);
    background: var(--raised);
    font-weight: 600;
  }

  .filter label:has(:focus-visible) {
    outline: 2px solid var(--link);
    outline-offset: 2px;
  }

  .suite h3 {
    display: flex;
    justify-content: space-between;
    padding-bottom: 0.25rem;
    border-bottom: 1px solid var(--line);
  }

  .row {
    border-bottom: 1px solid var(--line);
  }

  .row > summary,
  p.row {
    display: grid;
    grid-template-columns: 1.25rem minmax(0, 5fr) minmax(0, 4fr) 4.5rem;
    align-items: baseline;
    gap: 0 0.75rem;
    padding-block: 0.3125rem;
  }

  .row > summary {
    cursor: pointer;
  }

  .row > summary:hover {
    background: var(--raised);
  }

  .row .of,
  .row .cases {
    color: var(--quiet);
  }

  .row .cases {
    font-variant-numeric: tabular-nums;
    text-align: end;
  }

  .row .remark {
    grid-column: 2 / -1;
    font-size: 0.875rem;
  }

  details.row > :not(summary) {
    margin: 0.25rem 0 0.75rem 2rem;
  }

  .row:target,
  .finding:target {
    outline: 2px solid var(--link);
    outline-offset: 2px;
  }

  @media (width < 52rem) {
    .row > summary,
    p.row {
      grid-template-columns: 1.25rem minmax(0, 1fr) auto;
    }

    .row .of {
      grid-row: 2;
      grid-column: 2 / -1;
    }
  }
</style>`;
