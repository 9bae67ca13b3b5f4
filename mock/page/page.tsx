import { render, type ComponentChildren, type InputHTMLAttributes } from 'preact';
import type { DepositNow } from '../world.ts';
import type { Due } from '../session.ts';
import { attempt, left, mockNow, openWorld, refresh, say, send, signIn, start, state } from './store.ts';
import type { ListName, ShownKey, ShownUser } from './store.ts';
import { amount, curl, dateAndTime, duration, foreign, number, plural, timeOfDay } from './text.ts';

/** The newest worlds and the fullest limiters are shown. */
const MAX_WORLDS = 50;
const MAX_GAUGES = 12;
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

/** An event handler that calls the admin API and announces the result. */
const post = (path: string, body: unknown, said: string, world?: string | null) => () =>
  void attempt(async () => {
    await send('POST', path, body, world);
    say(said);
  });

/** The same for the clock, whose answer names what fell due. */
const moveClock = (path: string, body: unknown, said: string) => () =>
  void attempt(async () => {
    const { due } = (await send('POST', `clock/${path}`, body)) as { readonly due: Due };
    const { deposits, keys, limiters } = due;
    const happened = [
      deposits.length > 0 ? `${plural(deposits.length, 'deposit')} executed` : [],
      keys.length > 0 ? `${plural(keys.length, 'key')} expired` : [],
      limiters.length > 0 ? `${plural(limiters.length, 'limiter')} let go` : [],
    ].flat();
    say(happened.length === 0 ? `${said}.` : `${said}: ${happened.join(', ')}.`);
  });

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
  <button key={text} type="button" onClick={onClick}>
    {text}
    {about !== '' && <span class="unseen"> {about}</span>}
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
const focusOn = (form: HTMLFormElement | null) => form?.querySelector('input')?.focus();

/** A form with one input, which is emptied when its value was taken. */
function Field({ submit, onValue, autofocus = false, ...input }: FieldProps) {
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { value } = form.querySelector('input')!;
    form.reset();
    if (value !== '') onValue(value);
  };
  return (
    <form class="controls" onSubmit={onSubmit} ref={autofocus ? focusOn : null}>
      <input autocomplete="off" spellcheck={false} {...input} />
      <button>{submit}</button>
    </form>
  );
}

interface SectionProps {
  readonly title: string;
  readonly hint: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}
const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');

const Section = ({ title, hint, head, children }: SectionProps) => (
  <section id={idOf(title)} aria-labelledby={`${idOf(title)}-heading`} tabIndex={-1}>
    <div class="head">
      <h2 id={`${idOf(title)}-heading`}>{title}</h2>
      <p class="quiet">{hint}</p>
      {head}
    </div>
    {children}
  </section>
);

interface TableProps {
  readonly title: string;
  /** Class of the cells by heading. */
  readonly columns: Readonly<Record<string, string>>;
  /** Key and cells of each row. */
  readonly rows: readonly (readonly [string, ...(readonly ComponentChildren[])])[];
}
/** Roles are explicit, because rows are laid out as blocks on narrow screens. */
function Table({ title, columns, rows }: TableProps) {
  const columnList = Object.entries(columns);
  return (
    <table role="table" aria-labelledby={`${idOf(title)}-heading`}>
      <thead role="rowgroup">
        <tr role="row">
          {columnList.map(([head, kind]) => (
            <th key={head} role="columnheader" scope="col" class={kind}>
              <span class={kind === 'actions' ? 'unseen' : ''}>{head}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(([key, ...cells]) => (
          <tr key={key} role="row" data-key={key} tabIndex={-1}>
            {columnList.map(([head, kind], index) => (
              <td key={head} role="cell" class={kind}>
                {cells[index]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

let typing: ReturnType<typeof setTimeout> | undefined;

interface ListProps extends TableProps {
  readonly name: ListName;
  readonly total: number;
  /** What the filter looks at. */
  readonly filters: string;
}
function List({ name, total, filters, ...table }: ListProps) {
  const list = state.lists[name];
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
  const filter = (
    <input
      type="search"
      aria-label={`Filter the ${name}`}
      placeholder={`Filter: ${filters}`}
      onInput={onInput}
    />
  );
  return (
    <Section title={table.title} hint={list.contains === '' ? count : `${count} that fit`} head={filter}>
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
  return [
    id,
    withNote(id, `${partner ?? 'no IB'}, ${user_id}`),
    mark(now),
    withNote(
      amountInUsd === undefined ? '' : amount(amountInUsd),
      executedAt === undefined ? plan || undefined : dateAndTime(executedAt),
    ),
    now === 'pending' && buttons,
  ] as const;
}

function keyRow({ name, key, partner, state: now, expiresAt }: ShownKey) {
  const change = (path: string, done: string) => post(`keys/${path}`, { key: name }, `${name} ${done}.`);
  const expiry = (at: number) => (now === 'active' ? `in ${duration(at - mockNow())}` : dateAndTime(at));
  return [
    name,
    key === undefined ? name : withNote(key, name),
    mark(now),
    partner ?? 'none',
    expiresAt !== undefined && now !== 'revoked' && expiry(expiresAt),
    [
      now !== 'revoked' && button('Revoke', change('revoke', 'revoked'), name),
      now === 'active' && button('Expire', change('expire', 'expired'), name),
    ],
  ] as const;
}

const userRow = ({ user_id: id, partner, date_joined }: ShownUser) =>
  [id, id, partner ?? 'no IB', date_joined] as const;

function worldRow(world: string) {
  const isShown = world === state.world;
  const open = button('Open', () => void openWorld(world), `world ${world}`);
  const actions = [!isShown && open, button('Reset', reset(world), `world ${world}`)];
  return [world, withNote(world, isShown ? 'shown here' : undefined), actions] as const;
}

function Clock({ now, rate }: { readonly now: number; readonly rate: number }) {
  const pace = rate === 0 ? 'frozen' : rate === 1 ? 'running' : `running ${rate} times as fast`;
  const setSpeed = (speed: number) => {
    state.speed = speed;
    if (speed === 0) moveClock('freeze', undefined, 'Clock frozen')();
    else moveClock('scale', { rate: speed }, `Clock runs at ${speed}×`)();
  };
  return (
    <section class="clock" aria-labelledby="clock-heading">
      <div>
        <h2 id="clock-heading">Clock</h2>
        <p class="time">
          <time id="time">{timeOfDay(now).slice(0, 8)}</time> <span>UTC</span>
        </p>
        <p class="quiet">{`${day.format(now)}, ${pace}`}</p>
      </div>
      <fieldset>
        <legend>Speed</legend>
        <div class="segments">
          {[0, 1, 10, 60, 3600].map((speed) => (
            <label key={speed}>
              <input
                type="radio"
                name="speed"
                checked={speed === (state.speed ?? rate)}
                onChange={() => setSpeed(speed)}
              />
              {speed === 0 ? 'Frozen' : `${speed}×`}
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>Advance by</legend>
        {button('1 s', advance(1))}
        {button('10 s', advance(10))}
        {button('1 min', advance(60))}
        {button('1 h', advance(3600))}
        <Field
          {...{ type: 'number', min: 0, step: 'any', placeholder: 'seconds', submit: 'Advance' }}
          aria-label="Seconds to advance by"
          onValue={(seconds) => advance(Number(seconds))()}
        />
      </fieldset>
      <fieldset>
        <legend>Set to</legend>
        <Field
          {...{ placeholder: '2026-01-31T00:00:00Z', submit: 'Set' }}
          aria-label="Time to set the clock to"
          onValue={(at) => moveClock('set', { now: at }, `Clock set to ${at}`)()}
        />
      </fieldset>
    </section>
  );
}

async function copy(line: string, shows: string): Promise<void> {
  // A page that came over plain http from another machine has no clipboard.
  const isCopied = await navigator.clipboard?.writeText(line).then(
    () => true,
    () => false,
  );
  const isDone = isCopied ?? copySelected(line);
  say(isDone ? `Copied the line for ${shows}.` : 'The browser does not allow this page to copy.');
}

function copySelected(line: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const area = document.createElement('textarea');
  area.value = line;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  focused?.focus();
  return isCopied;
}

function Examples({ port, values }: NonNullable<typeof state.answers>['magic-values']) {
  const base = `${location.protocol}//${port === undefined ? location.host : `${location.hostname}:${port}`}`;
  return (
    <Section title="Requests to try" hint="one for each state that the fixture shows">
      <ul class="examples">
        {values.map(({ shows, target, key, keyName }) => {
          const line = curl(base + target, key, state.world);
          return (
            <li key={shows}>
              <span>{withNote(shows, key === undefined ? `with ${keyName}` : undefined)}</span>
              {button('Copy', () => void copy(line, shows), `the line for ${shows}`)}
              <code>{line}</code>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Limiters({ limits, gauges }: NonNullable<typeof state.answers>['limits']) {
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
    <Section title="Limiters" hint={filled.length === 0 ? 'all empty' : some}>
      <p class="quiet">{words.length === 0 ? 'No limits for all keys.' : `Each key: ${words.join(', ')}.`}</p>
      <ul class="gauges">
        {filled.slice(0, MAX_GAUGES).map(({ endpoint, key, counted, most, isLimited, freesInMs }) => (
          <li key={endpoint + key} class={isLimited ? 'limited' : ''}>
            <span>{withNote(endpoint, key)}</span>
            <span class="number">
              {withNote(
                `${number(counted)} of ${number(most)}`,
                `${isLimited ? 'limited, ' : ''}frees in ${duration(left(freesInMs))}`,
              )}
            </span>
            <meter aria-label={`${endpoint} ${key}`} max={most} value={Math.min(counted, most)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Journal({ requests }: NonNullable<typeof state.answers>['requests']) {
  const clear = () =>
    void attempt(async () => {
      await send('DELETE', 'requests');
      say('Journal cleared.');
    });
  const hint = requests.length === 0 ? 'nothing yet' : 'newest first';
  return (
    <Section title="Journal" hint={hint} head={button('Clear', clear)}>
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

const Data = ({
  deposits,
  keys,
  users,
  limits,
  worlds,
  clock,
  ...rest
}: NonNullable<typeof state.answers>) => (
  <main>
    <Clock now={mockNow()} rate={clock.rate} />
    <div class="columns">
      <div class="data">
        <List
          {...{
            name: 'deposits',
            title: 'Deposits',
            filters: 'id, partner, state',
            total: deposits.meta.total,
          }}
          columns={{ reference_id: 'id', State: 'text', 'USD, executed at': 'number', Actions: 'actions' }}
          rows={deposits.deposits.map(depositRow)}
        />
        <List
          {...{ name: 'keys', title: 'Keys', filters: 'name, partner, state', total: keys.meta.total }}
          columns={{ Key: 'id', State: 'text', Partner: 'text', Expires: 'number', Actions: 'actions' }}
          rows={keys.keys.map(keyRow)}
        />
        <List
          {...{ name: 'users', title: 'Users', filters: 'id, partner', total: users.meta.total }}
          columns={{ user_id: 'id', Partner: 'text', Joined: 'number' }}
          rows={users.users.map(userRow)}
        />
        <Examples {...rest['magic-values']} />
        <Section
          title="Worlds"
          hint={
            worlds.worlds.length > MAX_WORLDS
              ? `the last ${MAX_WORLDS} of ${number(worlds.worlds.length)}`
              : 'a key with ~name behind it opens one'
          }
        >
          <Table
            title="Worlds"
            columns={{ Name: 'id', Actions: 'actions' }}
            rows={worlds.worlds.toReversed().slice(0, MAX_WORLDS).map(worldRow)}
          />
          <div class="controls">
            <Field
              {...{ required: true, maxLength: 100, pattern: '[!-~]+', placeholder: 'name', submit: 'Open' }}
              aria-label="Name of the world to open"
              title="Visible ASCII characters without spaces"
              onValue={(name) => void openWorld(name)}
            />
            {button('Reset all worlds', resetAll)}
          </div>
        </Section>
      </div>
      <aside aria-label="What happens" tabIndex={0}>
        <Limiters {...limits} />
        <Journal {...rest.requests} />
      </aside>
    </div>
  </main>
);

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
      autofocus
      submit="Open"
      onValue={(token) => signIn(token.trim())}
    />
    <p role="alert">{state.signInError}</p>
  </main>
);

const sections = ['Deposits', 'Keys', 'Users', 'Requests to try', 'Worlds', 'Limiters', 'Journal'];

function Page() {
  const answers = state.isSignedOut ? undefined : state.answers;
  const names = answers?.worlds.worlds ?? [];
  return (
    <>
      {(answers ? ['Deposits', 'Journal'] : []).map((title) => (
        <a key={title} class="skip" href={`#${idOf(title)}`}>{`Skip to the ${idOf(title)}`}</a>
      ))}
      <header>
        <h1>
          ib-conformance <span>mock</span>
        </h1>
        {answers && (
          <div class="controls">
            <label for="world">World</label>
            <select
              id="world"
              value={state.world}
              onChange={(event) => void openWorld(event.currentTarget.value)}
            >
              {[...new Set(['', state.world, ...names])].map((name) => (
                <option key={name} value={name}>
                  {name || 'main'}
                </option>
              ))}
            </select>
            {button('Reset this world', reset(state.world))}
          </div>
        )}
      </header>
      {answers && (
        <nav aria-label="Parts of this page">
          {sections.map((title) => (
            <a key={title} href={`#${idOf(title)}`}>
              {title}
            </a>
          ))}
        </nav>
      )}
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
