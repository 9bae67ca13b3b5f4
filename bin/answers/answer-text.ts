import { wrongUsage } from '../../schemas/problem.ts';
import { decodeBody } from '../../suites/index.ts';
import type { Answer } from '../../suites/answer.ts';

/**
 * Reads an answer as `curl -i` prints it: status line, header fields, an empty line, the body. Of several answers, such
 * as after `100 Continue`, the last one counts.
 *
 * @param name of the file, for messages
 * @throws Problem with code `usage` if it is no HTTP answer
 */
export function readAnswer(bytes: Uint8Array, name: string): Answer {
  // Latin-1 keeps the number of bytes.
  const text = Buffer.from(bytes).toString('latin1');
  const head = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n((?:[^\r\n]+\r?\n)*)(?:\r?\n|$)/;
  let [at, found, status, lines]: [number, boolean, number, string] = [0, false, 0, ''];
  for (
    let match = head.exec(text);
    match !== null && (!found || status < 200);
    match = head.exec(text.slice(at))
  ) {
    [found, status, lines] = [true, Number(match[1]), match[2]!];
    at += match[0].length;
  }
  if (!found)
    throw wrongUsage(
      `${name}: is no HTTP answer; its first line must be a status line, as \`curl -i\` prints it`,
    );
  const headers: Record<string, string[]> = {};
  for (const line of lines.split(/\r?\n/).filter(Boolean)) {
    const [, field, value] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (field === undefined)
      throw wrongUsage(`${name}: is no HTTP answer: ${JSON.stringify(line)} is no header field`);
    (headers[field.toLowerCase()] ??= []).push(value!);
  }
  const body = decodeBody(bytes.subarray(at), headers['content-encoding']?.[0]);
  return { kind: 'answer', status, headers, ...body, sentAt: 0, receivedAt: 0, tookMs: 0 };
}
