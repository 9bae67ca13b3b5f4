import type {
  RecordedExchange,
  RecordedResponse,
  RequirementResult,
  RunRecord,
} from '../../schemas/generated/types.ts';
import { diffTexts, differenceWords } from '../text-difference.ts';
import {
  byFix,
  conditionOf,
  failureRate,
  keyVariable,
  levelWords,
  markOf,
  OUR_BUG,
  triedWords,
} from '../results.ts';
import { count, plural } from '../text.ts';
import { replayCommand } from '../verdict.ts';
import { html, visible, type Markup } from '../markup.ts';
import { clause, command, endpointOf, isFinding, outcomeMark, type PageContext } from './parts.ts';

/** Number of expanded findings. The others are collapsed. */
const MAX_OPEN = 10;
/** Maximum columns of a stack, of a part of a comparison, and of a body or request target. */
const MAX_STACK = 4000;
const MAX_STRETCH = 1200;
const MAX_BODY = 2000;
const MAX_FIELDS = 40;

/** Renders the findings in full: required failures first, then warnings, then the rest. */
export function findings(context: PageContext): Markup | undefined {
  const rank = ({ outcome, level }: RequirementResult) =>
    outcome === 'failed' ? (level === 'required' ? 0 : 1) : outcome === 'broken' ? 3 : 2;
  const found = context.record.requirements.filter(isFinding).toSorted((a, b) => rank(a) - rank(b));
  if (found.length === 0) return undefined;
  const groups = byFix(found);
  const closed = groups.length - MAX_OPEN;
  return html`${closed > 0 ? html`<p class="quiet">The last ${count(closed)} are collapsed.</p>` : undefined}
  ${groups.flatMap(({ first, rest }, at) => [
    finding(first, at < MAX_OPEN, context),
    ...rest.map((result) => finding(result, false, context, first)),
  ])}`;
}

function condition(result: RequirementResult): Markup | undefined {
  const when = conditionOf(result);
  const often = result.outcome === 'failed' ? result.intermittent : undefined;
  const tried = triedWords(result);
  return html`${when === undefined ? undefined : html`<p>Fails when: <strong>${when}</strong></p>`}
  ${tried && html`<p class="quiet">New lookups, ${tried}</p>`}
  ${often && html`<p>Intermittent: <strong>${failureRate(often)}</strong></p>`}`;
}

/** @param leader an earlier finding with the same answer and condition */
function finding(
  result: RequirementResult,
  isOpen: boolean,
  context: PageContext,
  leader?: RequirementResult,
): Markup {
  const { id, title, cases } = result;
  const anchor = context.anchorOf(result);
  const same =
    leader &&
    html`<p class="quiet">
      Same answer and condition as <a href="#${context.anchorOf(leader)}">${leader.id}</a>.
    </p>`;
  return html`<details
    class="finding of-${markOf(result).tone}"
    id="${anchor}"
    ${isOpen ? html`open` : undefined}
  >
    <summary>
      <h3>${outcomeMark(result)} ${title} <small>${endpointOf(result)}</small></h3>
    </summary>
    <p class="id">
      <a href="#${anchor}">${id}</a>
      <span>${levelWords(result)}</span>
      ${cases === 0 ? undefined : html`<span>${plural(cases, 'input')} tried</span>`}
    </p>
    ${condition(result)} ${same} ${details(result, context.record)}
  </details>`;
}

function details(result: RequirementResult, record: RunRecord): Markup | undefined {
  if (result.outcome === 'broken')
    return html`<p>${OUR_BUG}</p>
      <code class="block">${visible(result.words, MAX_STACK)}</code> ${clause(result)}`;
  if (result.outcome !== 'failed' && result.outcome !== 'inconclusive') return undefined;
  const { counterexample } = result;
  const replay = replayCommand(record, result);
  const found =
    result.outcome === 'failed'
      ? html`<p>Differs in <strong>${result.aspect}</strong>.</p>
          ${comparison(result.expected, result.actual)}`
      : html`<p>Not checked, <strong>${result.reason}</strong>: ${result.words}</p>`;
  return html`${found} ${clause(result)} ${counterexample && exchange(counterexample)}
  ${replay === undefined ? undefined : command('Check only this again', replay)}`;
}

function comparison(expected: string, actual: string): Markup {
  const { before, after, ...middle } = diffTexts(expected, actual);
  const isMarked = before + after !== '' && expected !== actual;
  const names = differenceWords(expected, actual);
  const side = (title: string, tone: 'good' | 'bad', text: string) => {
    const [start, differing, end] = [before, text, after].map((part) => visible(part, MAX_STRETCH));
    const isEmpty = before + text + after === '';
    const shown = [start, isMarked ? html`<mark>${differing}</mark>` : differing, end];
    return html`<div class="side ${tone}">
      <h4>${title}</h4>
      <code class="block">${isEmpty ? html`<span class="quiet">(nothing)</span>` : shown}</code>
    </div>`;
  };
  return html`<div class="comparison">
    ${side('Expected', 'good', middle.expected)} ${side('Actual', 'bad', middle.actual)}
    ${names === undefined ? undefined : html`<p class="letters">${names}</p>`}
  </div>`;
}

function exchange({ request, response, trouble, curl, key }: RecordedExchange): Markup {
  const note =
    key === undefined ? undefined : html`<code>$${keyVariable(curl)}</code> stands for <code>${key}</code>`;
  return html`<div class="exchange">
    <section>
      <h4>Request</h4>
      <code class="block">${request.method} ${visible(request.target, MAX_BODY)}</code>
      ${headerFields(request.headers)} ${request.body === undefined ? undefined : body(request.body)}
    </section>
    <section>
      <h4>Answer</h4>
      ${response === undefined ? html`<p>None: ${trouble ?? 'no reason was recorded'}</p>` : answer(response)}
    </section>
    ${command('Send this request again', curl, note)}
  </div>`;
}

function answer({ status, headers, body: sent }: RecordedResponse): Markup {
  return html`<p class="status">Status <strong>${status}</strong></p>
    ${body(sent)} ${headerFields(headers)}`;
}

function body(sent: string): Markup {
  if (sent === '') return html`<p class="quiet">Empty body</p>`;
  const cut = html`<p class="quiet">Cut: the body has ${count(sent.length)} characters</p>`;
  return html`<code class="block">${visible(sent, MAX_BODY)}</code
    >${sent.length > MAX_BODY ? cut : undefined}`;
}

function headerFields(headers: RecordedResponse['headers']): Markup | undefined {
  const all = Object.entries(headers);
  if (all.length === 0) return undefined;
  const items = all.slice(0, MAX_FIELDS).map(
    ([name, value]) =>
      html`<li>
        <code>${name}: ${value}</code>
      </li>`,
  );
  const more = all.length - items.length;
  return html`<ul class="fields">
    ${items} ${more > 0 ? html`<li class="quiet">and ${count(more)} more</li>` : undefined}
  </ul>`;
}
