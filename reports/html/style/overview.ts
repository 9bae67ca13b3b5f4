import { html } from '../markup.ts';

/** The verdict, what stands beside it, and the matrix. */
export const overviewStyle = html`<style>
  .verdict {
    padding-block: 1.5rem;
  }

  .verdict .by {
    color: var(--quiet);
    font-size: 0.8125rem;
  }

  .verdict h1 {
    font-size: clamp(1.75rem, 6vw, 2.75rem);
    font-weight: 700;
    letter-spacing: -0.02em;
    line-height: 1.2;
  }

  .verdict .numbers {
    font-size: 1.125rem;
  }

  .conformant h1 {
    color: var(--good);
  }

  .nonconformant h1 {
    color: var(--bad);
  }

  .incomplete h1 {
    color: var(--warning);
  }

  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 2rem;
    margin-top: 1rem;
  }

  .facts dt {
    color: var(--quiet);
    font-size: 0.8125rem;
  }

  .glance {
    display: grid;
    gap: 1.5rem 2.5rem;
    padding-block: 1.25rem;
    border-block: 1px solid var(--line);
  }

  @media (width >= 44rem) {
    .glance {
      grid-template-columns: 1fr 1fr;
    }
  }

  .glance > * {
    min-width: 0;
  }

  .glance h3 {
    margin-top: 0.75rem;
    color: var(--quiet);
    font-size: 0.875rem;
    font-weight: 600;
  }

  .glance h2 {
    margin-bottom: 0.25rem;
  }

  .glance li {
    display: grid;
    grid-template-columns: 1.25rem 1fr;
    padding-block: 0.1875rem;
  }

  .glance li :is(small, .more a) {
    grid-column: 2;
  }

  .glance small code {
    font-size: inherit;
  }

  .note {
    grid-column: 1 / -1;
    padding-inline-start: 0.75rem;
    border-inline-start: 3px solid var(--warning);
  }

  nav {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1.25rem;
  }

  #likely-cause ol {
    display: grid;
    gap: 0.5rem;
  }

  #likely-cause small {
    display: block;
  }

  .matrix {
    width: 100%;
    table-layout: fixed;
  }

  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1.5rem;
    font-size: 0.8125rem;
  }

  .matrix th:first-child {
    width: 22%;
  }

  .matrix :is(th, td) {
    vertical-align: middle;
  }

  .matrix th[scope='row'] {
    font-weight: 400;
  }

  .matrix a {
    display: inline-grid;
    place-items: center;
    width: 1.625rem;
    height: 1.625rem;
    margin: 1px;
    border-radius: 0.25rem;
    color: var(--quiet);
    font-weight: 700;
    text-decoration: none;
  }

  .matrix a:hover {
    background: var(--raised);
  }

  .matrix a.good {
    color: var(--good);
  }

  .matrix a.bad {
    background: var(--bad);
    color: var(--ground);
  }

  .matrix a.warning {
    background: var(--warning);
    color: var(--ground);
  }

  .matrix a.unsure {
    color: var(--unsure);
  }

  .matrix a.ours {
    background: var(--ours);
    color: var(--ground);
  }
</style>`;
