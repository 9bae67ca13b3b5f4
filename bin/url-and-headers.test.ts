import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseTarget, parseUrl } from './url-and-headers.ts';

describe('a base URL', () => {
  /** Typed text, and the URL of the target. */
  const good: Readonly<Record<string, string>> = {
    'http://localhost:8080': 'http://localhost:8080/',
    'https://api.example.com/gateway/': 'https://api.example.com/gateway/',
    'http://bücher.example/': 'http://xn--bcher-kva.example/',
  };
  for (const [text, href] of Object.entries(good))
    test(`${text} is valid`, () => assert.equal(parseUrl(text).href, href));

  for (const path of ['api/ib', 'api/ib/', 'api/ib/user-status', 'api/ib/deposit-check/', ''])
    test(`a target with /${path} at its end is understood`, () => {
      assert.equal(parseTarget(`http://x/${path}`).href, 'http://x/');
      assert.equal(parseTarget(`http://x/gateway/${path}`).href, 'http://x/gateway/');
    });

  /** Typed text, and the message of one line. */
  const bad: Readonly<Record<string, RegExp>> = {
    '': /^the URL is empty; write it like/,
    nonsense: /^nonsense: is not a URL; write it like/,
    'http://a b/': /^http:\/\/a b\/: is not a URL/,
    // Only a soft hyphen, which is removed from host names.
    'http://\u00ad/': /^http:\/\/\\u\{ad\}\/: is not a URL/,
    'http://x:70000/': /^http:\/\/x:70000\/: there is no port 70000; the highest is 65535$/,
    'http://x:0/y': /^http:\/\/x:0\/y: no server can listen on port 0/,
    'localhost:8080': /^localhost:8080: a URL begins with http:\/\/ or https:\/\/; write it like/,
    'ftp://x/': /a URL begins with http/,
    'http://x/?': /^http:\/\/x\/\?…: a base URL must not have a query or a fragment$/,
    'http://x/?key=secret': /^http:\/\/x\/\?…: a base URL must not have a query/,
    'http://x/#': /^http:\/\/x\/#…: a base URL must not have a query/,
    'http://user:secret@x/': /^the URL has a user name or password/,
    'http://user@x/': /^the URL has a user name or password/,
    'http://:secret@x/': /^the URL has a user name or password/,
    'http://user:se cret@x:99999/': /^http:\/\/…@x:99999\/: there is no port 99999/,
    'https:user:secret@x:99999': /^…@x:99999: there is no port 99999/,
    'user:secret@x': /^…@x: a URL begins with http/,
    'http://\u001b[2J\u009b\u202ex/': /^http:\/\/\\u\{1b\}\[2J\\u\{9b\}\\u\{202e\}x\/: is not a URL/,
  };
  for (const [text, pattern] of Object.entries(bad))
    test(`${JSON.stringify(text)} is invalid`, () =>
      assert.throws(
        () => parseUrl(text),
        ({ message }: Error) => {
          assert.match(message, pattern);
          assert.doesNotMatch(message, /secret|\p{C}/u);
          return true;
        },
      ));
});
