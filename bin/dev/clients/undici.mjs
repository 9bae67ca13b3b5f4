/** A partner's client in undici. Arguments: URL, key, name of its world. What it prints is in check-clients.ts. */
import { request } from 'undici';

const [url, key, world] = process.argv.slice(2);
const USER = '/api/ib/user-status?user_id=';
const DEPOSIT = '/api/ib/deposit-check?reference_id=';
const NOBODY = '00000000-0000-4000-8000-000000000000';

const print = (...words) => process.stdout.write(`${words.join(' ')}\n`);

async function ask(path, withKey = key) {
  const headers = { authorization: `Bearer ${withKey}` };
  const { statusCode: status, headers: fields, body } = await request(url + path, { headers });
  return { status, fields, body: await body.text() };
}

/** In the place of a sleep: the mock's clock is moved on. */
async function waitFor(seconds) {
  const { statusCode, body } = await request(`${url}/__admin/clock/advance?world=${world}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ seconds }),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`clock/advance: ${statusCode}`);
}

async function show(what, path, withKey) {
  const { status, body } = await ask(path, withKey);
  print(what, status, body);
}

await show('valid user-status', `${USER}11111111-1111-4111-8111-111111111111`);
await show('valid deposit-check', `${DEPOSIT}44444444-4444-4444-8444-444444444444`);

await show('invalid user-status', `${USER}x`);
await show('invalid deposit-check', DEPOSIT + NOBODY);
await show('invalid key', `${USER}11111111-1111-4111-8111-111111111111`, 'nope');

let count = 0;
let answer = await ask(USER + NOBODY);
for (; answer.status === 200 && count < 100; count++) answer = await ask(USER + NOBODY);
const retryAfter = answer.fields['retry-after'];
print(`limited after ${count}:`, answer.status, retryAfter, answer.body);
await waitFor(Number(retryAfter));
await show('limited no more:', USER + NOBODY);

const polls = [];
do {
  if (polls.length > 0) await waitFor(1);
  answer = await ask(`${DEPOSIT}77777777-7777-4777-8777-777777777777`);
  polls.push(answer.status);
} while (answer.status === 404 && polls.length < 10);
print('polling', ...polls, answer.body);
