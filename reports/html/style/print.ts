import { html } from '../markup.ts';

/** On paper all is open, dark on white, and nothing is broken in two that fits a page. */
export const printStyle = html`<style>
  @media print {
    :root {
      color-scheme: light;
      font-size: 11px;
      print-color-adjust: exact;
    }

    nav,
    .filter {
      display: none;
    }

    main {
      gap: 1.5rem;
    }

    h2,
    h3,
    summary {
      break-after: avoid;
    }

    .side,
    .command,
    .row,
    figure,
    tr {
      break-inside: avoid;
    }

    .finding::details-content {
      display: block;
      height: auto;
      content-visibility: visible;
    }
  }
</style>`;
