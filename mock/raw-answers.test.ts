import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswers } from './raw-answers.ts';

const fields = 'Date: x\r\nContent-Type: application/json\r\n';
const error = `HTTP/1.1 404 Not Found\r\n${fields}Content-Length: 13\r\n\r\n{"error":"x"}`;
const chunked = `HTTP/1.1 413 Payload Too Large\r\n${fields}Transfer-Encoding: chunked\r\n\r\n6\r\n{"erro\r\n7\r\nr":"x"}\r\n0\r\n\r\n`;
const head = `HTTP/1.1 200 OK\r\n${fields}Content-Length: 61\r\n\r\n`;

test('answers are read one behind the other', () => {
  const answers = readAnswers(`HTTP/1.1 100 Continue\r\n\r\n${error}${head}${chunked}`, ['GET', 'HEAD']);
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body]),
    [
      [404, '{"error":"x"}'],
      [200, ''],
      [413, '{"error":"x"}'],
    ],
  );
  assert.equal(answers[1]!.fields.get('content-length'), '61');
  assert.deepEqual(readAnswers(''), []);
});

for (const [what, bytes] of Object.entries({
  'bytes behind an answer': `${error}\n`,
  'a body short of its length': error.slice(0, -1),
  'a body longer than its length': error.replace('13', '12'),
  'no length at all': error.replace('Content-Length: 13\r\n', ''),
  'two lengths': error.replace('Date', 'Transfer-Encoding: chunked\r\nDate'),
  'a field twice': error.replace('Date', 'Date: y\r\nDate'),
  'a field that is none': error.replace('Date:', 'Date :'),
  'a control character in a field': error.replace('Date: x', 'Date: \x01x'),
  'no Date': error.replace('Date: x\r\n', ''),
  'another media type': error.replace('application/json', 'text/html'),
  'another field beside error': error.replace('13', '19').replace('"x"}', '"x","a":1}'),
  'an error that is no text': error.replace('13', '11').replace('"x"', '1'),
  'a body that is not JSON': error.replace('"x"', '"x\\'),
  'another version': error.replace('HTTP/1.1', 'HTTP/1.0'),
  'a server error': error.replace('404', '500'),
  'no end of the fields': error.slice(0, 40),
  'a chunk that breaks off': chunked.slice(0, -9),
  'no last chunk': chunked.slice(0, -5),
}))
  test(`is refused: ${what}`, () => assert.throws(() => readAnswers(bytes)));
