import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { openBrowser, openPage, row, said, type Browser } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const MANY = 1_000_000;

const idOf = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** So many users and deposits; every other deposit is pending. */
function fixtureOf(count: number): Fixture {
  const indices = Array.from({ length: count }, (_, index) => index);
  return {
    partners: [{ id: 'northwind' }],
    apiKeys: [{ key: 'a-key', partner: 'northwind', state: 'active' }],
    users: indices.map((index) => ({
      user_id: idOf(index),
      partner: 'northwind',
      date_joined: '2024-01-01T00:00:00.000Z',
    })),
    deposits: indices.map((index) =>
      index % 2 === 0
        ? { reference_id: idOf(index), user_id: idOf(index), state: 'pending' }
        : {
            reference_id: idOf(index),
            user_id: idOf(index),
            state: 'EXECUTED',
            amountInUsd: 1,
            executedAt: 1705314600000,
          },
    ),
  };
}

test('a million users and deposits are shown a few at a time, and found', async (t) => {
  const { page, mock } = await openPage(t, browser, { fixture: fixtureOf(MANY), clock: 'frozen' });
  await page.getByText('first 25 of 1,000,000').first().waitFor();
  const rows = page.locator('#deposits-table tbody tr');
  assert.equal(await rows.count(), 25);
  await page.locator('#deposits-table').getByRole('button', { name: 'Show more' }).click();
  await page.getByText('first 50 of 1,000,000').waitFor();
  assert.equal(await rows.count(), 50);
  const last = idOf(MANY - 2);
  await page.getByRole('searchbox', { name: 'Filter the deposits' }).fill(last);
  await page.getByText('1 that fit').waitFor();
  await page.getByRole('button', { name: `Execute deposit ${last}` }).click();
  await row(page, last).getByText('EXECUTED').waitFor();
  await said(page, `Deposit ${last} executed.`);
  assert.equal(mock.deposits.get(last).state, 'EXECUTED');
});
