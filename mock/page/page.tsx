import { render, type ComponentChildren, type InputHTMLAttributes, type Ref } from 'preact';
import type { JournalEntry } from '../journal.ts';
import type { DepositNow, User } from '../world.ts';
import { remainingMs, mockNow, openWorld, refresh, announce, send, signIn, start, state } from './store.ts';
import type { ShownKey } from '../controls/keys.ts';
import type { Listed } from '../controls/data.ts';
import type { Answers } from './store.ts';
import { amount, curl, dateAndTime, duration, escapeText, number, plural, timeOfDay } from './format.ts';

const MAX_GAUGES = 12;
const dayFormat = { dateStyle: 'full', timeZone: 'UTC' } as const;
const titleOf = (name: string) => name.replace(/^./, (first) => first.toUpperCase()).replaceAll('-', ' ');

function moveClock(
  call: 'POST /clock/advance' | 'POST /clock/set' | 'POST /clock/scale',
  body: unknown,
  said: string,
): Promise<void> {
  return send(call, body, ({ due }) => {
    const counted = [
      [due.deposits, 'deposit', 'executed'],
      [due.keys, 'key', 'expired'],
      [due.limiters, 'rate limit', 'ended'],
    ] as const;
    const happened = counted.filter(([list]) => list.length > 0);
    const text = happened.map(([list, name, done]) => `${plural(list.length, name)} ${done}`).join(', ');
    return text === '' ? `${said}.` : `${said}: ${text}.`;
  });
}

const advance = (seconds: number) =>
  moveClock('POST /clock/advance', { seconds }, `Clock advanced by ${duration(seconds * 1000)}`);

function resetAll(): void {
  if (!confirm('Reset all worlds? Running tests lose their data.')) return;
  void send('POST /reset', undefined, () => 'All worlds were reset to the fixture.', { world: null });
}

const button = (text: string, onClick: () => void, about = '') => (
  <button key={text} type="button" onClick={onClick} aria-label={`${text} ${about}`.trim()}>
    {text}
  </button>
);

const withNote = (text: string, note: string | undefined) => (
  <>
    {text}
    {note !== undefined && <small>{note}</small>}
  </>
);

const mark = (name: string) => <span class={`state ${name.toLowerCase()}`}>{name}</span>;

type Input = InputHTMLAttributes & { readonly ref?: Ref<HTMLInputElement> };

function field(submit: string, onValue: (value: string) => unknown, input: Input) {
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { value } = form.querySelector('input')!;
    form.reset();
    if (value !== '') void onValue(value);
  };
  return (
    <form onSubmit={onSubmit}>
      <input autocomplete="off" spellcheck={false} {...input} />
      <button>{submit}</button>
    </form>
  );
}

const section = (name: string, hint: string, content: ComponentChildren, beside?: ComponentChildren) => (
  <section id={name} aria-labelledby={`${name}-heading`} tabIndex={-1}>
    <div class="head">
      <h2 id={`${name}-heading`}>{titleOf(name)}</h2>
      <p class="quiet">{hint}</p>
      {beside}
    </div>
    {content}
  </section>
);

type Columns = Readonly<Record<string, string>>;
type Row = readonly [key: string, ...cells: ComponentChildren[]];

function table(name: string, columns: Columns, rows: readonly Row[]) {
  const kinds = Object.values(columns);
  const cellsIn = (Cell: 'th' | 'td', cells: readonly ComponentChildren[]) =>
    cells.map((cell, at) => (
      <Cell key={at} class={kinds[at]}>
        {cell}
      </Cell>
    ));
  return (
    <table aria-labelledby={`${name}-heading`}>
      <thead>
        <tr>{cellsIn('th', Object.keys(columns))}</tr>
      </thead>
      <tbody>
        {rows.map(([key, ...cells]) => (
          <tr key={key} data-key={key} tabIndex={-1}>
            {cellsIn('td', cells)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function listSection<Name extends 'deposits' | 'keys' | 'users', Item>(
  name: Name,
  filters: string,
  columns: Columns,
  { meta: { total }, ...items }: Listed<Name, Item>,
  rowOf: (item: Item) => Row,
) {
  const list = state.lists[name];
  const rows = (items as Record<Name, readonly Item[]>)[name].map(rowOf);
  const count = rows.length < total ? `first ${number(rows.length)} of ${number(total)}` : number(total);
  const onInput = ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement }) => {
    list.contains = value.trim();
    void refresh();
  };
  const onMore = () => {
    list.limit += 25;
    void refresh();
  };
  const texts = { 'aria-label': `Filter the ${name}`, placeholder: `Filter: ${filters}` };
  const more = rows.length < total && rows.length < 1000 && button('Show more', onMore);
  return section(
    name,
    list.contains === '' ? count : `${count} matching`,
    [table(name, columns, rows), more],
    <input type="search" onInput={onInput} {...texts} />,
  );
}

function depositRow({ reference_id: id, state: now, amountInUsd, executedAt, ...deposit }: DepositNow): Row {
  const { user_id, partner, dueInMs, pollsLeft } = deposit;
  const polls = pollsLeft === 0 ? 'with the next poll' : pollsLeft && `after ${plural(pollsLeft, 'poll')}`;
  const plan = dueInMs === undefined ? polls : `in ${duration(remainingMs(dueInMs))}`;
  const act = (name: 'Execute' | 'Fail', done: string) => {
    const call = `POST /deposits/{id}/${name === 'Fail' ? 'fail' : 'execute'}` as const;
    const onClick = () => void send(call, undefined, () => `Deposit ${id} ${done}.`, { id });
    return button(name, onClick, `deposit ${id}`);
  };
  const buttons = [act('Execute', 'executed'), act('Fail', 'failed')];
  const executed = executedAt === undefined ? plan || undefined : dateAndTime(executedAt);
  const paid = withNote(amountInUsd === undefined ? '' : amount(amountInUsd), executed);
  const owner = `${partner ?? 'no IB'}, ${user_id}`;
  return [id, withNote(id, owner), mark(now), paid, now === 'pending' && buttons];
}

function keyRow({ name, key, partner, state: now, expiresAt }: ShownKey): Row {
  const act = (text: string, path: 'revoke' | 'expire', done: string) =>
    button(text, () => void send(`POST /keys/${path}`, { key: name }, () => `${name} ${done}.`), name);
  const expiry = (at: number) => (now === 'active' ? `in ${duration(at - mockNow())}` : dateAndTime(at));
  const expires = expiresAt !== undefined && now !== 'revoked' && expiry(expiresAt);
  const revoke = now !== 'revoked' && act('Revoke', 'revoke', 'revoked');
  const expire = now === 'active' && act('Expire', 'expire', 'expired');
  const shown = key === undefined ? name : withNote(key, name);
  return [name, shown, mark(now), partner ?? 'none', expires, [revoke, expire]];
}

const userRow = ({ user_id: id, partner, date_joined: at }: User): Row => [id, id, partner ?? 'no IB', at];

const group = (legend: string, controls: ComponentChildren) => (
  <fieldset>
    <legend>{legend}</legend>
    {controls}
  </fieldset>
);

function Clock({ rate }: Answers['GET /clock']) {
  const pace = rate === 0 ? 'frozen' : rate === 1 ? 'running' : `running ${rate} times as fast`;
  const setSpeed = async (chosen: number) => {
    state.speed = chosen;
    await moveClock(
      'POST /clock/scale',
      { rate: chosen },
      chosen === 0 ? 'Clock frozen' : `Clock runs at ${chosen}×`,
    );
    await refresh();
    if (state.speed === chosen) state.speed = undefined;
  };
  const shown = state.speed ?? rate;
  const speed = (one: number) => (
    <label key={one}>
      <input type="radio" name="speed" checked={one === shown} onChange={() => void setSpeed(one)} />
      {one === 0 ? 'Frozen' : `${one}×`}
    </label>
  );
  const count: Input = { type: 'number', min: 0, step: 'any', placeholder: 'seconds' };
  const seconds = { ...count, 'aria-label': 'Seconds to advance by' };
  const time = { placeholder: '2026-01-31T00:00:00Z', 'aria-label': 'Time to set the clock to' };
  const set = (at: string) => moveClock('POST /clock/set', { now: at }, `Clock set to ${at}`);
  return (
    <section class="clock" aria-labelledby="clock-heading">
      <div>
        <h2 id="clock-heading">Clock</h2>
        <p class="time">
          <time id="time">{timeOfDay(mockNow()).slice(0, 8)}</time> <span>UTC</span>
        </p>
        <p class="quiet">{`${new Date(mockNow()).toLocaleDateString('en-GB', dayFormat)}, ${pace}`}</p>
      </div>
      {group('Speed', [0, 1, 10, 60, 3600].map(speed))}
      {group('Advance by', [
        ...[1, 10, 60, 3600].map((one) => button(duration(one * 1000), () => void advance(one))),
        field('Advance', (given) => advance(Number(given)), seconds),
      ])}
      {group('Set to', field('Set', set, time))}
    </section>
  );
}

/** Copies a line. `navigator.clipboard` is missing on plain http. */
function copy(id: string, shows: string): void {
  getSelection()!.selectAllChildren(document.getElementById(id)!);
  const isCopied = document.execCommand('copy');
  announce(isCopied ? `Copied the line for ${shows}.` : 'The browser did not allow copying.');
}

function Examples({ values }: Answers['GET /magic-values']) {
  return section(
    'requests-to-try',
    'one for each state in the fixture',
    <ul>
      {values.map(({ shows, target, key, keyName }) => (
        <li key={shows}>
          <span>{withNote(shows, key === undefined && keyName ? `with ${keyName}` : undefined)}</span>
          {button('Copy', () => copy(`curl ${shows}`, shows), `the line for ${shows}`)}
          <code id={`curl ${shows}`}>
            {curl(location.origin + target, keyName ? key : null, state.world)}
          </code>
        </li>
      ))}
    </ul>,
  );
}

function Limiters({ limits, gauges }: Answers['GET /limits']) {
  const { 'user-status': user, 'deposit-check': deposit } = limits;
  const words = [
    user ? `${number(user.failedLookups)} failed lookups in ${user.windowSeconds} s` : [],
    deposit ? `${number(deposit.requests)} deposit checks in ${deposit.windowSeconds} s` : [],
  ].flat();
  const filled = gauges
    .filter(({ counted, freesInMs }) => counted > 0 && remainingMs(freesInMs) > 0)
    .toSorted((one, other) => other.counted / other.most - one.counted / one.most);
  const some = filled.length > MAX_GAUGES ? `the fullest ${MAX_GAUGES} of ${number(filled.length)}` : '';
  return section(
    'limiters',
    filled.length === 0 ? 'all empty' : some,
    <>
      <p class="quiet">{words.length === 0 ? 'No limits.' : `Each key: ${words.join(', ')}.`}</p>
      <ul class="gauges">
        {filled.slice(0, MAX_GAUGES).map(({ endpoint, key, counted, most, isLimited, freesInMs }) => {
          const frees = `${isLimited ? 'limited, ' : ''}frees in ${duration(remainingMs(freesInMs))}`;
          return (
            <li key={endpoint + key} class={isLimited ? 'limited' : ''}>
              <span>{withNote(endpoint, key)}</span>
              <span class="number">{withNote(`${number(counted)} of ${number(most)}`, frees)}</span>
              <meter aria-label={`${endpoint} ${key}`} max={most} value={Math.min(counted, most)} />
            </li>
          );
        })}
      </ul>
    </>,
  );
}

function Faults({ fault, chaos, next }: Answers['GET /faults']) {
  const active = [fault ?? [], chaos, next.map(({ kind, count }) => `${kind} for the next ${count}`)].flat(2);
  const switchOff = () =>
    void send('PUT /faults', { fault: null, chaos: null }, () => 'Faults switched off.');
  const queue = (kind: string) => send('POST /faults/next', { kind }, () => `The next request gets ${kind}.`);
  return section(
    'faults',
    active.length === 0 ? 'none' : '',
    <>
      <ul>
        {active.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {field('Queue', queue, {
        placeholder: '503, reset, slow:2s',
        'aria-label': 'Fault of the next request',
      })}
    </>,
    button('Switch off', switchOff),
  );
}

/** Formats a request and its answer, without credentials. */
function exchangeText({ method, target, requestHeaders, status, ...entry }: JournalEntry) {
  const fields = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const list = [`${method} ${target}`, ...fields(requestHeaders)];
  const answered = [`${status}`, ...fields(entry.responseHeaders)];
  return [...list, '', ...answered, '', entry.responseBody].map(escapeText).join('\n');
}

function Journal({ requests }: Answers['GET /requests']) {
  const clear = () => void send('DELETE /requests', undefined, () => 'Journal cleared.');
  return section(
    'journal',
    requests.length === 0 ? 'nothing yet' : 'newest first',
    <ol class="journal">
      {requests.toReversed().map((entry) => (
        <li key={entry.id} class={entry.status < 400 ? '' : 'refused'}>
          <span class="status">{entry.status}</span>
          <span class="reason">{escapeText(entry.reason.replace(/^\d+: /, ''))}</span>
          <time>{timeOfDay(entry.at)}</time>
          <code>{`${escapeText(entry.method)} ${escapeText(entry.target)}`}</code>
          <small>
            {(entry.key ?? 'no known key') + (entry.keyInTarget ? ', the URL contained a key' : '')}
            {entry.durationMs === undefined ? ', not answered' : `, ${entry.durationMs.toFixed(1)} ms`}
          </small>
          <details>
            <summary aria-label={`Headers and body of request ${entry.id}`}>Headers and body</summary>
            <pre>{exchangeText(entry)}</pre>
          </details>
        </li>
      ))}
    </ol>,
    button('Clear', clear),
  );
}

const depositColumns = { reference_id: 'id', State: '', 'USD, executed at': 'number', Actions: 'actions' };
const keyColumns = { Key: 'id', State: '', Partner: '', Expires: 'number', Actions: 'actions' };
const userColumns = { user_id: 'id', Partner: '', Joined: 'number' };

const Data = (answers: Answers) => (
  <main>
    <Clock {...answers['GET /clock']} />
    <div class="columns">
      <div>
        <Examples {...answers['GET /magic-values']} />
        {listSection('deposits', 'id, partner, state', depositColumns, answers['GET /deposits'], depositRow)}
        {listSection('keys', 'name, partner, state', keyColumns, answers['GET /keys'], keyRow)}
        {listSection('users', 'id, partner', userColumns, answers['GET /users'], userRow)}
      </div>
      <aside aria-label="Status" tabIndex={0}>
        <Journal {...answers['GET /requests']} />
        <Faults {...answers['GET /faults']} />
        <Limiters {...answers['GET /limits']} />
      </aside>
    </div>
  </main>
);

const focusOn = (input: HTMLInputElement | null) => input?.focus();
const tokenInput: Input = { type: 'password', required: true, ref: focusOn, 'aria-label': 'Admin token' };

const SignIn = () => (
  <main>
    <h2>Admin token</h2>
    <p>
      Other machines can reach this mock, so it needs the token of <code>--admin-token</code>, or the one that
      it printed at its start. This page does not store the token.
    </p>
    {field('Open', (token) => signIn(token.trim()), tokenInput)}
    <p role="alert">{state.signInError}</p>
  </main>
);

function WorldChoice({ worlds }: Answers['GET /worlds']) {
  const title = 'At most 100 visible ASCII characters, with spaces only between them';
  const named = { required: true, pattern: '[!-~]([ -~]{0,98}[!-~])?', title, placeholder: 'name' };
  const said = `The world ${state.world || 'main'} was reset to the fixture.`;
  return (
    <div class="controls">
      <label for="world">World</label>
      <select id="world" value={state.world} onChange={(event) => void openWorld(event.currentTarget.value)}>
        {[...new Set(['', state.world, ...worlds])].map((name) => (
          <option key={name} value={name}>
            {name || 'main'}
          </option>
        ))}
      </select>
      {button('Reset this world', () => void send('POST /reset', undefined, () => said))}
      {field('Open', openWorld, { ...named, 'aria-label': 'Name of the world to open' })}
      {button('Reset all worlds', resetAll)}
    </div>
  );
}

const sections = 'requests-to-try journal deposits keys users faults limiters'.split(' ');
const links = sections.map((name) => (
  <a key={name} href={`#${name}`}>
    {titleOf(name)}
  </a>
));

function Page() {
  const answers = state.signInError === undefined ? state.answers : undefined;
  return (
    <>
      <header>
        <h1>
          ib-conformance <span>mock</span>
        </h1>
        {answers && <WorldChoice {...answers['GET /worlds']} />}
      </header>
      {answers && <nav aria-label="Parts of this page">{links}</nav>}
      {answers && <Data {...answers} />}
      {state.signInError !== undefined && <SignIn />}
      <footer>
        <p class={`connection ${state.connection.toLowerCase()}`}>{state.connection}</p>
        <p role="status">{state.announcement}</p>
      </footer>
    </>
  );
}

start(() => {
  document.title = `${state.world === '' ? '' : `${state.world} · `}ib-conformance mock`;
  const focused = document.activeElement;
  const row = focused?.closest<HTMLElement>('[data-key]');
  render(<Page />, document.getElementById('page')!);
  // If the focused button is gone, the focus stays in its row.
  if (row?.isConnected === true && focused?.isConnected === false) row.focus();
});
