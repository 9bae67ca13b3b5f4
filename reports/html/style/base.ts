import { html } from '../markup.ts';

/** Colours and letters, and what all parts share. */
export const baseStyle = html`<style>
  :root {
    color-scheme: light dark;
    --ground: light-dark(#fff, #121416);
    --raised: light-dark(#f6f7f9, #1a1d21);
    --ink: light-dark(#16191d, #e7e9ec);
    --quiet: light-dark(#5a626d, #9aa3ae);
    --line: light-dark(#e0e4e9, #2b3137);
    --good: light-dark(#0b6b3a, #5fd08f);
    --bad: light-dark(#b3201d, #ff8b80);
    --warning: light-dark(#8a5300, #f0b35a);
    --unsure: light-dark(#0f5f94, #74bff2);
    --ours: light-dark(#8a2a86, #e59be1);
    --link: light-dark(#0b5f8a, #7cc4f0);
    --bad-tint: light-dark(#fde7e5, #43191a);
    --good-tint: light-dark(#def3e6, #143524);
    --code: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace;
  }

  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }

  html {
    background: var(--ground);
    color: var(--ink);
    font:
      15px/1.5 system-ui,
      sans-serif;
    overflow-wrap: anywhere;
    scroll-padding-top: 1rem;
    text-size-adjust: none;
  }

  body,
  h1,
  h2,
  h3,
  h4,
  p,
  dl,
  dd,
  ul,
  ol,
  figure,
  fieldset {
    margin: 0;
    padding: 0;
  }

  body > * {
    max-width: 76rem;
    margin-inline: auto;
    padding-inline: clamp(1rem, 3vw, 2.5rem);
  }

  ul,
  ol {
    list-style: none;
  }

  h2 {
    font-size: 1.25rem;
    line-height: 1.3;
  }

  h3 {
    font-size: 1rem;
  }

  h4,
  .label {
    color: var(--quiet);
    font-size: 0.8125rem;
    font-weight: 600;
  }

  a {
    color: var(--link);
  }

  small,
  .quiet,
  .count {
    color: var(--quiet);
    font-size: 0.8125rem;
    font-weight: 400;
  }

  code {
    font: 0.8125rem/1.5 var(--code);
  }

  .block {
    display: block;
    padding: 0.5rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: 0.375rem;
    background: var(--raised);
    line-break: anywhere;
    white-space: pre-wrap;
  }

  .good {
    color: var(--good);
  }

  .bad {
    color: var(--bad);
  }

  .warning {
    color: var(--warning);
  }

  .unsure {
    color: var(--unsure);
  }

  .ours {
    color: var(--ours);
  }

  .mark {
    display: inline-block;
    width: 1.25em;
    font-weight: 700;
  }

  :focus-visible {
    outline: 2px solid var(--link);
    outline-offset: 2px;
  }

  main {
    display: grid;
    gap: 2.5rem;
    padding-bottom: 4rem;
  }

  main > * {
    min-width: 0;
  }

  main > section {
    display: grid;
    gap: 1rem;
  }

  main > section > * {
    min-width: 0;
  }

  table {
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }

  th,
  td {
    padding: 0.375rem 0.75rem 0.375rem 0;
    border-bottom: 1px solid var(--line);
    text-align: start;
    vertical-align: top;
  }

  thead th {
    color: var(--quiet);
    font-size: 0.8125rem;
    font-weight: 400;
  }
</style>`;
