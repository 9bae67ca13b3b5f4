import type { Failed, Inconclusive, RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { markOf } from '../marks.ts';
import { replayCommand } from '../replay-command.ts';
import { count, several } from '../units.ts';
import { clause } from './clause.ts';
import { command } from './command.ts';
import { comparison } from './comparison.ts';
import { exchange } from './exchange.ts';
import { html, type Markup } from './markup.ts';
import { isFinding, outcomeMark } from './outcome.ts';
import type { Scene } from './scene.ts';
import { visible } from './visible.ts';

/** Findings that stand open; where there are more, one reads the first ones and opens the others. */
const MOST_OPEN = 10;
/** Columns of a stack at most. */
const MOST_STACK = 4000;

const OUR_BUG =
  'This is a bug of ib-conformance and says nothing of the target. Please report it, with the record of the run (--report json=run.json).';

/** All that has to be read in full: failures of required rows first, then those that warn, then the rest. */
export function findings(scene: Scene): Markup | undefined {
  const found = scene.record.requirements.filter(isFinding).toSorted((a, b) => rank(a) - rank(b));
  if (found.length === 0) return undefined;
  const closed = found.length - MOST_OPEN;
  return html`${closed > 0 ? html`<p class="quiet">The last ${count(closed)} are closed.</p>` : undefined}
  ${found.map((result, at) => finding(result, at < MOST_OPEN, scene))}`;
}

const rank = ({ outcome, level }: RequirementResult) =>
  outcome === 'failed' ? (level === 'required' ? 0 : 1) : outcome === 'broken' ? 3 : 2;

function finding(result: RequirementResult, isOpen: boolean, scene: Scene): Markup {
  const { id, title, level, cases } = result;
  const anchor = scene.anchorOf(result);
  return html`<details
    class="finding of-${markOf(result).tone}"
    id="${anchor}"
    ${isOpen ? html`open` : undefined}
  >
    <summary>
      <h3>${outcomeMark(result)} ${title}</h3>
    </summary>
    <p class="id">
      <a href="#${anchor}">${id}</a>
      <span>${level}${result.outcome === 'failed' && level !== 'required' ? ': this only warns' : ''}</span>
      ${cases === 0 ? undefined : html`<span>${several(cases, 'input')} tried</span>`}
    </p>
    ${told(result, scene.record)}
  </details>`;
}

function told(result: RequirementResult, record: RunRecord): Markup | undefined {
  switch (result.outcome) {
    case 'failed':
      return html`<p>Differs in <strong>${result.aspect}</strong>.</p>
        ${comparison(result.expected, result.actual)} ${clause(result)} ${evidence(result, record)}`;
    case 'inconclusive':
      return html`<p>Could not be judged, <strong>${result.reason}</strong>: ${result.words}</p>
        ${clause(result)} ${evidence(result, record)}`;
    case 'broken':
      return html`<p>${OUR_BUG}</p>
        <code class="block">${visible(result.words, MOST_STACK)}</code> ${clause(result)}`;
    case 'passed':
    case 'observed':
    case 'excluded':
      return undefined;
  }
}

function evidence(result: Failed | Inconclusive, record: RunRecord): Markup {
  const replay = replayCommand(record, result);
  return html`${result.counterexample === undefined ? undefined : exchange(result.counterexample)}
  ${replay === undefined ? undefined : command('Check this again', replay)}`;
}
