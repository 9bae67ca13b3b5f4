import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { loadPage } from './asset.ts';
import { policyOf } from './policy.ts';

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test('the policy names the style and the scripts that the page holds, by their hashes', () => {
  const policy = policyOf('<style>a{}</style><script>one()</script><p></p><script>\ntwo()\n</script>');
  assert.ok(policy.includes(`script-src ${hash('one()')} ${hash('\ntwo()\n')};`));
  assert.ok(policy.includes(`style-src ${hash('a{}')};`));
  assert.match(policy, /^default-src 'none'; /);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
});

test('the page is one file: it refers to no other, and has no code in attributes', async () => {
  const html = await loadPage();
  const markup = html.replace(/<(script|style)>[^]*?<\/\1>/g, '');
  assert.equal(html.match(/<script>/g)?.length, 1);
  assert.equal(html.match(/<style>/g)?.length, 1);
  assert.doesNotMatch(markup, /<script|<iframe|\ssrc=|\son\w+=|\sstyle=/);
  const references = Array.from(markup.matchAll(/href="([^"]*)"/g), ([, to]) => to!);
  for (const reference of references) assert.match(reference, /^(?:#|data:|openapi\.json$)/);
  assert.doesNotMatch(html, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|@import|url\(/);
});
