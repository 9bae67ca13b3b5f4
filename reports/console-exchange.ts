import type { RecordedExchange, RecordedResponse } from '../schemas/generated/types.ts';
import { commandField, field, fieldWidth, proseField } from './console-field.ts';
import { printable } from './printable.ts';
import { count } from './units.ts';
import { chunk } from './wrap.ts';

/** Columns of a body that are shown at most. */
const MOST_BODY = 600;

/** The request as a command, and what came back. */
export function exchangeLines(exchange: RecordedExchange, width: number): readonly string[] {
  const { curl, key, response, trouble } = exchange;
  return [
    ...commandField('request', curl),
    ...(key === undefined ? [] : proseField('', `($IB_API_KEY stands for ${key})`, width)),
    ...(response === undefined
      ? proseField('answer', `none: ${trouble ?? 'no reason was recorded'}`, width)
      : answerLines(response, width)),
  ];
}

function answerLines({ status, headers, body }: RecordedResponse, width: number): readonly string[] {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const label = type === undefined ? 'no content-type' : `content-type: ${type}`;
  const shown = printable(body, MOST_BODY);
  return [
    ...proseField('answer', `${status}, ${label}`, width),
    ...field(
      '',
      body === '' ? ['(an empty body)'] : chunk(shown, fieldWidth(width)).map((line) => line.trimEnd()),
    ),
    ...(body.length > MOST_BODY ? field('', [`(the beginning of ${count(body.length)} characters)`]) : []),
  ];
}
