import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Problem } from '../../schemas/problem.ts';
import { conversation } from './conversation.ts';

/** A conversation with a terminal that the test types on, and all that it has shown. */
function talking() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  let shown = '';
  output.on('data', (chunk) => (shown += String(chunk)));
  return {
    talk: conversation(input, output, stop.signal),
    type: (text: string) => void input.write(text),
    input,
    stop,
    shown: () => shown,
  };
}

const problem = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.code === code && words.test(error.message);

test('a question shows what is typed, and gives the line', async () => {
  const { talk, type, shown } = talking();
  const answer = talk.ask('URL: ');
  type('http://herex\u007f\r');
  assert.equal(await answer, 'http://here');
  assert.match(shown(), /URL: http:\/\/here/);
  talk.close();
});

test('a secret is not shown, nor brought back by an arrow key', async () => {
  const { talk, type, shown } = talking();
  const secret = talk.ask('key: ', 'secret');
  type('sk_secret\r');
  assert.equal(await secret, 'sk_secret');
  const next = talk.ask('more: ');
  type('\u001b[Ayes\r');
  assert.equal(await next, 'yes');
  assert.match(shown(), /key: \n/);
  assert.ok(!shown().includes('secret'), shown());
  talk.close();
});

test('what is pasted ahead answers the questions to come, and shows no secret', async () => {
  const { talk, type, shown } = talking();
  const first = talk.ask('URL: ');
  type('http://here\rsk_secret\rsome id\rrest');
  assert.equal(await first, 'http://here');
  assert.equal(await talk.ask('key: ', 'secret'), 'sk_secret');
  assert.equal(await talk.ask('id: '), 'some id');
  assert.match(shown(), /key: \nid: some id\n$/);
  assert.ok(!shown().includes('secret'), shown());
  talk.close();
});

test('what is pasted behind a wrong answer is forgotten: a key would be shown as the next one', async () => {
  const { talk, type, shown } = talking();
  const first = talk.ask('URL: ');
  type('nonsense\rsk_secret\rsk_half');
  assert.equal(await first, 'nonsense');
  talk.forget();
  const again = talk.ask('URL: ');
  type('http://here\r');
  assert.equal(await again, 'http://here');
  assert.ok(!shown().includes('sk_'), shown());
  talk.close();
});

/** What ends a conversation: what is done, and how the question ends. */
const endings = {
  'Ctrl-C': [
    ({ type }: ReturnType<typeof talking>) => type('half\u0003'),
    'interrupted',
    /nothing was written/,
  ],
  'Ctrl-D': [({ type }: ReturnType<typeof talking>) => type('\u0004'), 'usage', /the input ended/],
  'the end of the input': [
    ({ input }: ReturnType<typeof talking>) => void input.end(),
    'usage',
    /input ended/,
  ],
  'a signal': [({ stop }: ReturnType<typeof talking>) => stop.abort(), 'interrupted', /nothing was written/],
} as const;

for (const [what, [act, code, words]] of Object.entries(endings))
  test(`${what} ends a question, and those behind it`, async () => {
    const terminal = talking();
    const answer = terminal.talk.ask('URL: ');
    act(terminal);
    await assert.rejects(answer, problem(code, words));
    await assert.rejects(terminal.talk.ask('more: '), problem(code, words));
    terminal.talk.close();
  });

test('closed, it leaves the terminal as it was, for another conversation', async () => {
  const { talk, input, type, stop } = talking();
  talk.close();
  assert.equal(input.isPaused(), true);
  const output = new PassThrough();
  const again = conversation(input, output, stop.signal);
  const answer = again.ask('again: ');
  type('yes\r');
  assert.equal(await answer, 'yes');
  again.close();
  const ended = once(stop.signal, 'abort');
  stop.abort();
  await ended;
});
