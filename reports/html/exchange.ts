import type { RecordedExchange, RecordedResponse } from '../../schemas/generated/types.ts';
import { count } from '../units.ts';
import { command } from './command.ts';
import { html, type Markup } from './markup.ts';
import { visible } from './visible.ts';

/** Columns of a body, and of the path and query, that are shown at most. */
const MOST_BODY = 2000;
/** Header fields that are shown at most. */
const MOST_FIELDS = 40;

/** What was sent, what came back, and the command that sends it again. */
export function exchange({ request, response, trouble, curl, key }: RecordedExchange): Markup {
  const note = key === undefined ? undefined : html`<code>$IB_API_KEY</code> stands for <code>${key}</code>`;
  return html`<div class="exchange">
    <section>
      <h4>Request</h4>
      <code class="block">${request.method} ${visible(request.target, MOST_BODY)}</code>
      ${fields(request.headers)} ${request.body === undefined ? undefined : body(request.body)}
    </section>
    <section>
      <h4>Answer</h4>
      ${response === undefined ? html`<p>None: ${trouble ?? 'no reason was recorded'}</p>` : answer(response)}
    </section>
    ${command('Send it again', curl, note)}
  </div>`;
}

function answer({ status, headers, body: text }: RecordedResponse): Markup {
  return html`<p class="status">Status <strong>${status}</strong></p>
    ${body(text)} ${fields(headers)}`;
}

function body(text: string): Markup {
  if (text === '') return html`<p class="quiet">An empty body</p>`;
  const cut = html`<p class="quiet">The beginning of ${count(text.length)} characters</p>`;
  return html`<code class="block">${visible(text, MOST_BODY)}</code
    >${text.length > MOST_BODY ? cut : undefined}`;
}

function fields(headers: RecordedResponse['headers']): Markup | undefined {
  const all = Object.entries(headers);
  if (all.length === 0) return undefined;
  const items = all.slice(0, MOST_FIELDS).map(
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
