import { render, type ComponentChildren, type InputHTMLAttributes } from 'preact';
import { curl, dateAndTime, escapeText, number } from './format.ts';
import { openWorld, send, start, state, update, type Answers } from './store.ts';

type Content = ComponentChildren;
const MAX_LIMITERS = 12;

/** `about` completes the text for screen readers. */
function button(text: string, about: string, onClick: (label: string) => unknown) {
  const label = `${text} ${about}`.trim();
  return (
    <button key={text} type="button" aria-label={label} onClick={() => void onClick(label)}>
      {text}
    </button>
  );
}

/** A button that makes a call. */
const act = (text: string, about: string, call: string, body?: unknown) =>
  button(text, about, (label) => send(label, call, body));

/** A field with a button. It keeps what the mock refuses. */
function field(
  name: string,
  placeholder: string,
  onValue: (value: string) => Promise<unknown>,
  more?: InputHTMLAttributes,
) {
  const submit = async (form: HTMLFormElement) => {
    if ((await onValue(form.querySelector('input')!.value.trim())) !== false) form.reset();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void submit(event.currentTarget as HTMLFormElement);
  };
  return (
    <form key={name} onSubmit={onSubmit}>
      <input aria-label={name} placeholder={placeholder} autocomplete="off" required {...more} />
      <button>{name}</button>
    </form>
  );
}

const section = (name: string, hint: string, beside: Content, content: Content) => (
  <section aria-label={name} tabIndex={-1}>
    <div class="controls">
      <h2>{name}</h2>
      <p class="quiet">{hint}</p>
      {beside}
    </div>
    {content}
  </section>
);

const row = (id: string, text: string, note: string, ...cells: readonly Content[]) => (
  <li key={id} data-key={id} tabIndex={-1}>
    <span>
      {escapeText(text)}
      <small>{escapeText(note)}</small>
    </span>
    {cells}
  </li>
);
const cell = (...content: readonly Content[]) => <span>{content}</span>;
const mark = (name: string) => <span class={name.toLowerCase()}>{name}</span>;
const seconds = (ms: number) => `${number(Math.ceil(ms / 1000))} s`;

function clock({ clock: { now, rate } }: Answers) {
  const advance = (by: string) => send(`Advance by ${by}`, 'PUT /clock', { advance: by });
  const set = (at: string) => send(`Set to ${at}`, 'PUT /clock', { now: at });
  const speed = (to: number) => act(to === 0 ? 'Stop' : `${to}×`, 'clock', 'PUT /clock', { rate: to });
  const controls = [
    <time key="">{dateAndTime(now)}</time>,
    [0, 1, 60, 3600].map(speed),
    ['10s', '1m', '1h'].map((by) => button(`+${by}`, '', () => advance(by))),
    field('Advance', '90s, 5m, 2h', advance),
    field('Set', '2026-01-31T00:00:00Z', set),
  ];
  return section(
    'Clock',
    rate === 0 ? 'stopped' : `speed ${rate}`,
    '',
    <div class="controls">{controls}</div>,
  );
}

/** Formats a request and its answer, without credentials. */
function exchangeText({ method, target, requestHeaders, ...answer }: Answers['requests'][number]) {
  const fields = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const answered = [answer.reason, ...fields(answer.responseHeaders), '', answer.responseBody];
  return [`${method} ${target}`, ...fields(requestHeaders), '', ...answered].map(escapeText).join('\n');
}

function requestRow(entry: Answers['requests'][number]) {
  const { id, at, key = 'no known key', method, target, reason, keyInTarget } = entry;
  const details = (
    <details>
      <summary>{`${key}${keyInTarget ? ', the URL contained a key' : ''}: headers and body`}</summary>
      <pre>{exchangeText(entry)}</pre>
    </details>
  );
  return row(`${id}`, reason, `${method} ${target}`, cell(new Date(at).toISOString().slice(11, -1)), details);
}

function requests(answers: Answers) {
  const rows = answers.requests.toReversed().map(requestRow);
  const clear = act('Clear', 'requests', 'DELETE /requests');
  const hint = rows.length === 0 ? 'none yet: copy one of the requests to try' : 'newest first, times in UTC';
  return section('Requests', hint, clear, <ol>{rows}</ol>);
}

function faults({ fault, faults: all }: Answers) {
  const set = (id: string) => void send(`Set fault ${id}`, 'PUT /fault', { fault: id });
  const queue = (json: string) => send('Queue answer', 'POST /next', json);
  const next = (text: string, answer: object) => act(text, 'as next answer', 'POST /next', answer);
  const off = act('Switch off', 'fault', 'PUT /fault', { fault: null });
  const what = all.find(({ id }) => id === fault)?.what;
  return section(
    'Fault',
    fault === null ? 'none' : `${fault}: ${what}`,
    off,
    <div class="controls">
      <select aria-label="Set fault" value={fault ?? ''} onChange={(event) => set(event.currentTarget.value)}>
        <option value="" disabled>
          Choose a fault
        </option>
        {all.map((one) => (
          <option key={one.id} value={one.id}>{`${one.id}: ${one.what}`}</option>
        ))}
      </select>
      <p>Next answer:</p>
      {[401, 429, 503].map((status) => next(`${status}`, { status }))}
      {next('Connection reset', { reset: true })}
      {field('Queue', '{"status": 502, "body": "<p>"}', queue)}
    </div>,
  );
}

function limits({ limits: all, limiters }: Answers) {
  const words = Object.entries(all).map(
    ([endpoint, { windowSeconds, ...most }]) =>
      `${endpoint} ${Object.values(most).join('')} in ${windowSeconds} s`,
  );
  const filled = limiters.filter(({ counted }) => counted > 0);
  const fullest = filled.toSorted((one, other) => other.counted / other.most - one.counted / one.most);
  const rows = fullest.slice(0, MAX_LIMITERS).map((limiter) => {
    const { endpoint, key, counted, most, isLimited, freesInMs } = limiter;
    const frees = `${isLimited ? 'limited, ' : ''}frees in ${seconds(freesInMs)}`;
    const meter = <meter aria-label={`${endpoint} ${key}`} max={most} value={Math.min(counted, most)} />;
    const filling = cell(`${number(counted)} of ${number(most)}`);
    return row(endpoint + key, `${endpoint}, ${key}`, frees, filling, meter);
  });
  const some = rows.length < filled.length ? `the fullest ${rows.length} of ${filled.length}` : '';
  return section('Limits', words.join(', ') || 'none: PUT /__admin/limits sets some', some, <ul>{rows}</ul>);
}

function depositRow({ reference_id: id, state: now, ...deposit }: Answers['deposits'][number]) {
  const { user_id, partner, amountInUsd = 0, executedAt, dueInMs, pollsLeft } = deposit;
  const plan =
    dueInMs === undefined ? pollsLeft && `after ${number(pollsLeft)} polls` : `in ${seconds(dueInMs)}`;
  const paid = executedAt !== undefined && [
    `${number(amountInUsd)} USD`,
    <small key="">{dateAndTime(executedAt)}</small>,
  ];
  const set = (text: string, to: string) => act(text, `deposit ${id}`, `PUT /deposits/${id}`, { state: to });
  const actions = now === 'pending' && [set('Execute', 'EXECUTED'), set('Fail', 'failed')];
  return row(id, id, `${partner ?? 'no IB'}, ${user_id}`, mark(now), cell(paid || plan), cell(actions));
}

function keyRow({ name, key = 'secret', partner, state: now, expiresAt }: Answers['keys'][number]) {
  const path = `PUT /keys/${encodeURIComponent(name)}`;
  const set = (text: string, to: string) => act(text, name, path, { state: to });
  const expiry = expiresAt !== undefined && now !== 'revoked' && `expires ${dateAndTime(expiresAt)}`;
  const actions = [
    now !== 'revoked' && set('Revoke', 'revoked'),
    now === 'active' && set('Expire', 'expired'),
  ];
  return row(name, name, `${partner ?? 'no IB'}, ${key}`, mark(now), cell(expiry), cell(actions));
}

const userRow = ({ user_id: id, partner, date_joined: joined }: Answers['users'][number]) =>
  row(id, id, `${partner ?? 'no IB'}, joined ${joined}`);

function list(name: string, total: number, rows: readonly Content[]) {
  const none = state.contains === '' ? 'none: PUT /__admin/data serves some' : 'none: change the filter';
  const hint = rows.length < total ? `${rows.length} of ${number(total)}` : total === 0 ? none : `${total}`;
  const more = () => update({ limit: state.limit + 50 });
  return section(
    name,
    hint,
    rows.length < total && button('Show more', name, more),
    <ul class="data">{rows}</ul>,
  );
}

const search = (
  <input
    type="search"
    aria-label="Filter the data"
    placeholder="Filter: id, partner, state"
    onInput={(event) => void update({ contains: event.currentTarget.value })}
  />
);

/** Copies a line. `navigator.clipboard` is missing on plain http. */
function copy(id: string): void {
  getSelection()!.selectAllChildren(document.getElementById(id)!);
  const isCopied = document.execCommand('copy');
  void update({ announcement: isCopied ? `Copied: ${id}.` : 'The browser did not allow copying.' });
}

function exampleRow({ shows, target, keyName, ...key }: Answers['examples'][number]) {
  const line = curl(location.origin + target, key, state.world);
  const note = key.variable ? `with ${keyName}` : '';
  return row(
    shows,
    shows,
    note,
    button('Copy', shows, () => copy(shows)),
    <code id={shows}>{line}</code>,
  );
}

function worlds({ worlds: all }: Answers) {
  const resetAll = (label: string) =>
    confirm('Reset all worlds? Running tests lose their data.') && send(label, 'POST /reset', undefined, '');
  return (
    <div class="controls">
      <label for="world">World</label>
      <select id="world" value={state.world} onChange={(event) => openWorld(event.currentTarget.value)}>
        {[...new Set(['', state.world, ...all])].map((name) => (
          <option key={name} value={name}>
            {name || 'main'}
          </option>
        ))}
      </select>
      {act('Reset', 'this world', 'POST /reset')}
      {button('Reset all worlds', '', resetAll)}
    </div>
  );
}

const signIn = () => (
  <main>
    <h2>Admin token</h2>
    <p>This mock needs the token that it printed at its start, or that of --admin-token. It is not stored.</p>
    {field('Open', '', (token) => update({ token }), {
      'aria-label': 'Admin token',
      type: 'password',
      autofocus: true,
    })}
    <p role="alert">{state.refusal}</p>
  </main>
);

const shown = (answers: Answers) => (
  <main class="columns">
    {clock(answers)}
    <div>
      {requests(answers)}
      {faults(answers)}
      {limits(answers)}
    </div>
    <div>
      {section('Data', '', search, '')}
      {list('Deposits', answers.totals.deposits, answers.deposits.map(depositRow))}
      {list('Keys', answers.totals.keys, answers.keys.map(keyRow))}
      {list('Users', answers.totals.users, answers.users.map(userRow))}
      {section('Requests to try', '', '', <ol>{answers.examples.map(exampleRow)}</ol>)}
    </div>
  </main>
);

function page() {
  const answers = state.refusal === undefined ? state.answers : undefined;
  return (
    <>
      <header class="controls">
        <h1>ib-conformance mock</h1>
        {answers && worlds(answers)}
      </header>
      {state.refusal === undefined ? answers && shown(answers) : signIn()}
      <footer class="controls">
        <p class={state.connection.toLowerCase()}>{state.connection}</p>
        <p role="status">{state.announcement}</p>
      </footer>
    </>
  );
}

start(() => {
  document.title = `${state.world && `${state.world} · `}ib-conformance mock`;
  const focused = document.activeElement;
  const place = focused?.closest<HTMLElement>('[tabindex]');
  render(page(), document.getElementById('page')!);
  // If the focused button is gone, the focus stays in its row or section.
  if (place?.isConnected === true && focused?.isConnected === false) place.focus();
});
