import { render, type ComponentChildren, type InputHTMLAttributes } from 'preact';
import type { DepositNow, User } from '../world.ts';
import type { Due } from '../session.ts';
import { left, mockNow, openWorld, refresh, say, send, signIn, start, state } from './store.ts';
import type { Answers, ShownKey } from './store.ts';
import { amount, curl, dateAndTime, duration, foreign, number, plural, timeOfDay } from './text.ts';

/** The newest worlds and the fullest limiters are shown. */
const MAX_WORLDS = 50;
const MAX_GAUGES = 12;
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });
const titleOf = (name: string) => name.replace(/^./, (first) => first.toUpperCase()).replaceAll('-', ' ');

/** An event handler that calls the admin API and announces the result. */
const post = (path: string, body: unknown, said: string, world?: string | null) => () =>
  void send('POST', path, body, () => said, world);

/** The same for the clock, whose answer names what fell due. */
function moveClock(path: string, body: unknown, said: string): Promise<void> {
  return send('POST', `clock/${path}`, body, (answer) => {
    const { due } = answer as { readonly due: Due };
    const counted = [
      [due.deposits, 'deposit', 'executed'],
      [due.keys, 'key', 'expired'],
      [due.limiters, 'limiter', 'let go'],
    ] as const;
    const happened = counted.filter(([list]) => list.length > 0);
    const words = happened.map(([list, name, done]) => `${plural(list.length, name)} ${done}`).join(', ');
    return words === '' ? `${said}.` : `${said}: ${words}.`;
  });
}

const advance = (seconds: number) =>
  moveClock('advance', { seconds }, `Clock moved on by ${duration(seconds * 1000)}`);
const reset = (world: string) =>
  post('reset', undefined, `The world ${world || 'main'} is as the fixture has it.`, world);

function resetAll(): void {
  if (!confirm('Reset all worlds? Tests that are running in them lose their data.')) return;
  post('reset', undefined, 'All worlds are as the fixture has them.', null)();
  void openWorld('');
}

/** A button. `about` completes its text for screen readers. */
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

type FieldProps = InputHTMLAttributes & {
  readonly submit: string;
  readonly onValue: (value: string) => void;
};

/** A form with one input, which is emptied when its value was taken. */
function Field({ submit, onValue, ...input }: FieldProps) {
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { value } = form.querySelector('input')!;
    form.reset();
    if (value !== '') onValue(value);
  };
  return (
    <form onSubmit={onSubmit}>
      <input autocomplete="off" spellcheck={false} {...input} />
      <button>{submit}</button>
    </form>
  );
}

interface SectionProps {
  readonly name: string;
  readonly hint: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}
const Section = ({ name, hint, head, children }: SectionProps) => (
  <section id={name} aria-labelledby={`${name}-heading`} tabIndex={-1}>
    <div class="head">
      <h2 id={`${name}-heading`}>{titleOf(name)}</h2>
      <p class="quiet">{hint}</p>
      {head}
    </div>
    {children}
  </section>
);

interface TableProps {
  readonly name: string;
  /** Class of the cells by heading. */
  readonly columns: Readonly<Record<string, string>>;
  /** Key and cells of each row. */
  readonly rows: readonly (readonly [string, ...(readonly ComponentChildren[])])[];
}
/** Roles are explicit, because rows are laid out as blocks on narrow screens. */
function Table({ name, columns, rows }: TableProps) {
  const columnList = Object.entries(columns);
  const heads = columnList.map(([head, kind]) => (
    <th key={head} role="columnheader" scope="col" class={kind}>
      {head}
    </th>
  ));
  const cellsOf = (cells: readonly ComponentChildren[]) =>
    columnList.map(([head, kind], index) => (
      <td key={head} role="cell" class={kind}>
        {cells[index]}
      </td>
    ));
  return (
    <table role="table" aria-labelledby={`${name}-heading`}>
      <thead role="rowgroup">
        <tr role="row">{heads}</tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(([key, ...cells]) => (
          <tr key={key} role="row" data-key={key} tabIndex={-1}>
            {cellsOf(cells)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

let typing: ReturnType<typeof setTimeout> | undefined;

interface ListProps extends TableProps {
  readonly name: keyof typeof state.lists;
  readonly total: number;
  /** What the filter looks at. */
  readonly filters: string;
}
function List({ total, filters, ...table }: ListProps) {
  const list = state.lists[table.name];
  const shown = table.rows.length;
  const count = shown < total ? `first ${number(shown)} of ${number(total)}` : number(total);
  const onInput = ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement }) => {
    list.contains = value.trim();
    clearTimeout(typing);
    typing = setTimeout(() => void refresh(), 200);
  };
  const onMore = () => {
    list.limit += 25;
    void refresh();
  };
  const texts = { 'aria-label': `Filter the ${table.name}`, placeholder: `Filter: ${filters}` };
  const filter = <input type="search" onInput={onInput} {...texts} />;
  return (
    <Section name={table.name} hint={list.contains === '' ? count : `${count} that fit`} head={filter}>
      <Table {...table} />
      {shown < total && shown < 1000 && button('Show more', onMore)}
    </Section>
  );
}

function depositRow({ reference_id: id, state: now, amountInUsd, executedAt, ...deposit }: DepositNow) {
  const { user_id, partner, dueInMs, pollsLeft } = deposit;
  const polls = pollsLeft === 0 ? 'with the next poll' : pollsLeft && `after ${plural(pollsLeft, 'poll')}`;
  const plan = dueInMs === undefined ? polls : `in ${duration(left(dueInMs))}`;
  const change = (path: string, done: string) =>
    post(`deposits/${id}/${path}`, undefined, `Deposit ${id} ${done}.`);
  const buttons = [
    button('Execute', change('execute', 'executed'), `deposit ${id}`),
    button('Fail', change('fail', 'failed'), `deposit ${id}`),
  ];
  const executed = executedAt === undefined ? plan || undefined : dateAndTime(executedAt);
  const paid = withNote(amountInUsd === undefined ? '' : amount(amountInUsd), executed);
  const owner = `${partner ?? 'no IB'}, ${user_id}`;
  return [id, withNote(id, owner), mark(now), paid, now === 'pending' && buttons] as const;
}

function keyRow({ name, key, partner, state: now, expiresAt }: ShownKey) {
  const change = (path: string, done: string) => post(`keys/${path}`, { key: name }, `${name} ${done}.`);
  const expiry = (at: number) => (now === 'active' ? `in ${duration(at - mockNow())}` : dateAndTime(at));
  const expires = expiresAt !== undefined && now !== 'revoked' && expiry(expiresAt);
  const buttons = [
    now !== 'revoked' && button('Revoke', change('revoke', 'revoked'), name),
    now === 'active' && button('Expire', change('expire', 'expired'), name),
  ];
  const shown = key === undefined ? name : withNote(key, name);
  return [name, shown, mark(now), partner ?? 'none', expires, buttons] as const;
}

const userRow = ({ user_id: id, partner, date_joined }: User) =>
  [id, id, partner ?? 'no IB', date_joined] as const;

function worldRow(world: string) {
  const isShown = world === state.world;
  const open = button('Open', () => void openWorld(world), `world ${world}`);
  const actions = [!isShown && open, button('Reset', reset(world), `world ${world}`)];
  return [world, withNote(world, isShown ? 'shown here' : undefined), actions] as const;
}

function Clock({ rate }: Answers['clock']) {
  const pace = rate === 0 ? 'frozen' : rate === 1 ? 'running' : `running ${rate} times as fast`;
  const setSpeed = async (speed: number) => {
    state.speed = speed;
    if (speed === 0) await moveClock('freeze', undefined, 'Clock frozen');
    else await moveClock('scale', { rate: speed }, `Clock runs at ${speed}×`);
    await refresh();
    if (state.speed === speed) state.speed = undefined;
  };
  const speeds = [0, 1, 10, 60, 3600].map((speed) => {
    const isChosen = speed === (state.speed ?? rate);
    return (
      <label key={speed}>
        <input type="radio" name="speed" checked={isChosen} onChange={() => void setSpeed(speed)} />
        {speed === 0 ? 'Frozen' : `${speed}×`}
      </label>
    );
  });
  const seconds = { type: 'number', min: 0, step: 'any', placeholder: 'seconds' } as const;
  return (
    <section class="clock" aria-labelledby="clock-heading">
      <div>
        <h2 id="clock-heading">Clock</h2>
        <p class="time">
          <time id="time">{timeOfDay(mockNow()).slice(0, 8)}</time> <span>UTC</span>
        </p>
        <p class="quiet">{`${day.format(mockNow())}, ${pace}`}</p>
      </div>
      <fieldset>
        <legend>Speed</legend>
        {speeds}
      </fieldset>
      <fieldset>
        <legend>Advance by</legend>
        {[1, 10, 60, 3600].map((one) => button(duration(one * 1000), () => void advance(one)))}
        <Field
          {...seconds}
          aria-label="Seconds to advance by"
          submit="Advance"
          onValue={(given) => void advance(Number(given))}
        />
      </fieldset>
      <fieldset>
        <legend>Set to</legend>
        <Field
          placeholder="2026-01-31T00:00:00Z"
          aria-label="Time to set the clock to"
          submit="Set"
          onValue={(at) => void moveClock('set', { now: at }, `Clock set to ${at}`)}
        />
      </fieldset>
    </section>
  );
}

/** Selects a line and copies it. `navigator.clipboard` is missing where the page came over plain http. */
function copy(id: string, shows: string): void {
  getSelection()!.selectAllChildren(document.getElementById(id)!);
  const isCopied = document.execCommand('copy');
  say(isCopied ? `Copied the line for ${shows}.` : 'The browser does not allow this page to copy.');
}

function Examples({ port, values }: Answers['magic-values']) {
  const base = `${location.protocol}//${port === undefined ? location.host : `${location.hostname}:${port}`}`;
  return (
    <Section name="requests-to-try" hint="one for each state that the fixture shows">
      <ul>
        {values.map(({ shows, target, key, keyName }) => (
          <li key={shows}>
            <span>{withNote(shows, key === undefined ? `with ${keyName}` : undefined)}</span>
            {button('Copy', () => copy(`curl ${shows}`, shows), `the line for ${shows}`)}
            <code id={`curl ${shows}`}>{curl(base + target, key, state.world)}</code>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Limiters({ limits, gauges }: Answers['limits']) {
  const { 'user-status': user, 'deposit-check': deposit } = limits;
  const words = [
    user ? `${number(user.failedLookups)} failed lookups in ${user.windowSeconds} s` : [],
    deposit ? `${number(deposit.requests)} deposit checks in ${deposit.windowSeconds} s` : [],
  ].flat();
  const filled = gauges
    .filter(({ counted, freesInMs }) => counted > 0 && left(freesInMs) > 0)
    .toSorted((one, other) => other.counted / other.most - one.counted / one.most);
  const some = filled.length > MAX_GAUGES ? `the fullest ${MAX_GAUGES} of ${number(filled.length)}` : '';
  return (
    <Section name="limiters" hint={filled.length === 0 ? 'all empty' : some}>
      <p class="quiet">{words.length === 0 ? 'No limits for all keys.' : `Each key: ${words.join(', ')}.`}</p>
      <ul class="gauges">
        {filled.slice(0, MAX_GAUGES).map(({ endpoint, key, counted, most, isLimited, freesInMs }) => {
          const frees = `${isLimited ? 'limited, ' : ''}frees in ${duration(left(freesInMs))}`;
          return (
            <li key={endpoint + key} class={isLimited ? 'limited' : ''}>
              <span>{withNote(endpoint, key)}</span>
              <span class="number">{withNote(`${number(counted)} of ${number(most)}`, frees)}</span>
              <meter aria-label={`${endpoint} ${key}`} max={most} value={Math.min(counted, most)} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Journal({ requests }: Answers['requests']) {
  const clear = () => void send('DELETE', 'requests', undefined, () => 'Journal cleared.');
  const hint = requests.length === 0 ? 'nothing yet' : 'newest first';
  return (
    <Section name="journal" hint={hint} head={button('Clear', clear)}>
      <ol class="journal">
        {requests.toReversed().map(({ id, at, status, reason, method, target, key, keyInTarget }) => (
          <li key={id} class={status < 400 ? '' : 'refused'}>
            <span class="status">{status}</span>
            <span class="reason">{foreign(reason.replace(/^\d+: /, ''))}</span>
            <time>{timeOfDay(at)}</time>
            <code>{`${foreign(method)} ${foreign(target)}`}</code>
            <small>{(key ?? 'no known key') + (keyInTarget ? ', a key stood in the URL' : '')}</small>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Worlds({ worlds }: Answers['worlds']) {
  const isCut = worlds.length > MAX_WORLDS;
  const hint = isCut
    ? `the last ${MAX_WORLDS} of ${number(worlds.length)}`
    : 'a key with ~name behind it opens one';
  const rows = worlds.toReversed().slice(0, MAX_WORLDS).map(worldRow);
  const name = { required: true, maxLength: 100, pattern: '[!-~]+', placeholder: 'name' };
  return (
    <Section name="worlds" hint={hint}>
      <Table name="worlds" columns={{ Name: 'id', Actions: 'actions' }} rows={rows} />
      <div class="controls">
        <Field
          {...name}
          aria-label="Name of the world to open"
          title="Visible ASCII characters without spaces"
          submit="Open"
          onValue={(world) => void openWorld(world)}
        />
        {button('Reset all worlds', resetAll)}
      </div>
    </Section>
  );
}

const Data = ({ deposits, keys, users, limits, worlds, clock, requests, ...rest }: Answers) => (
  <main>
    <Clock {...clock} />
    <div class="columns">
      <div>
        <List
          name="deposits"
          filters="id, partner, state"
          columns={{ reference_id: 'id', State: 'text', 'USD, executed at': 'number', Actions: 'actions' }}
          rows={deposits.deposits.map(depositRow)}
          {...deposits.meta}
        />
        <List
          name="keys"
          filters="name, partner, state"
          columns={{ Key: 'id', State: 'text', Partner: 'text', Expires: 'number', Actions: 'actions' }}
          rows={keys.keys.map(keyRow)}
          {...keys.meta}
        />
        <List
          name="users"
          filters="id, partner"
          columns={{ user_id: 'id', Partner: 'text', Joined: 'number' }}
          rows={users.users.map(userRow)}
          {...users.meta}
        />
        <Examples {...rest['magic-values']} />
        <Worlds {...worlds} />
      </div>
      <aside aria-label="What happens" tabIndex={0}>
        <Limiters {...limits} />
        <Journal {...requests} />
      </aside>
    </div>
  </main>
);

const focusOn = (input: HTMLInputElement | null) => input?.focus();

const SignIn = () => (
  <main class="sign-in">
    <h2>Admin token</h2>
    <p>
      Others can reach this mock, so it wants the token of <code>--admin-token</code>, or the one that it
      printed when it started. This page forgets it when it is closed or loaded again.
    </p>
    <Field
      aria-label="Admin token"
      type="password"
      required
      ref={focusOn}
      submit="Open"
      onValue={(token) => signIn(token.trim())}
    />
    <p role="alert">{state.signInError}</p>
  </main>
);

function WorldChoice({ worlds }: Answers['worlds']) {
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
      {button('Reset this world', reset(state.world))}
    </div>
  );
}

const sections = ['deposits', 'keys', 'users', 'requests-to-try', 'worlds', 'limiters', 'journal'];
const links = sections.map((name) => (
  <a key={name} href={`#${name}`}>
    {titleOf(name)}
  </a>
));

function Page() {
  const answers = state.isSignedOut ? undefined : state.answers;
  return (
    <>
      <header>
        <h1>
          ib-conformance <span>mock</span>
        </h1>
        {answers && <WorldChoice {...answers.worlds} />}
      </header>
      {answers && <nav aria-label="Parts of this page">{links}</nav>}
      {answers && <Data {...answers} />}
      {state.isSignedOut && <SignIn />}
      <footer>
        <p class={`connection ${state.connection.toLowerCase()}`}>{state.connection}</p>
        <p role="status">{state.said}</p>
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
