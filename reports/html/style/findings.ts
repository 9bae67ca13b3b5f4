import { html } from '../markup.ts';

/** A finding in full: what was expected, what came, and how to see it again. */
export const findingStyle = html`<style>
  .finding {
    padding: 1rem clamp(0.75rem, 2vw, 1.25rem);
    border: 1px solid var(--line);
    border-inline-start: 4px solid var(--unsure);
    border-radius: 0.375rem;
  }

  .finding.of-bad {
    border-inline-start-color: var(--bad);
  }

  .finding.of-warning {
    border-inline-start-color: var(--warning);
  }

  .finding.of-ours {
    border-inline-start-color: var(--ours);
  }

  .finding summary {
    cursor: pointer;
  }

  .finding summary h3 {
    display: inline;
    font-size: 1.0625rem;
  }

  .finding > :not(summary) {
    margin-top: 0.75rem;
  }

  .finding h4,
  .label {
    margin-bottom: 0.25rem;
  }

  .id {
    display: flex;
    flex-wrap: wrap;
    gap: 0.125rem 1rem;
    color: var(--quiet);
    font-size: 0.8125rem;
  }

  .finding .id a {
    font-family: var(--code);
  }

  .comparison,
  .exchange {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
    gap: 0.75rem;
  }

  .comparison > *,
  .exchange > * {
    min-width: 0;
  }

  .comparison .letters,
  .exchange .command {
    grid-column: 1 / -1;
  }

  .side .block {
    border-inline-start: 3px solid currentcolor;
    font-size: 0.875rem;
  }

  .side.good h4 {
    color: var(--good);
  }

  .side.bad h4 {
    color: var(--bad);
  }

  mark {
    border-bottom: 2px solid;
    border-radius: 0.125rem;
    color: var(--ink);
    font-weight: 700;
  }

  .good mark {
    border-color: var(--good);
    background: var(--good-tint);
  }

  .bad mark {
    border-color: var(--bad);
    background: var(--bad-tint);
  }

  /* Where the other one has something, and this one nothing. */
  mark:empty {
    padding-inline: 0.1875rem;
  }

  .block i {
    color: var(--ours);
    font-style: normal;
  }

  .block i.quiet {
    color: var(--quiet);
    font-size: inherit;
  }

  .clause {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 2rem;
  }

  .clause dt {
    color: var(--quiet);
    font-size: 0.8125rem;
  }

  .status {
    margin-bottom: 0.25rem;
  }

  .fields {
    margin-top: 0.375rem;
    color: var(--quiet);
  }

  .command .block {
    cursor: copy;
    user-select: all;
  }
</style>`;
