import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { readBody, type Answer } from '../answer.ts';

/** An answer's body is read up to here; the interface's own are a hundred bytes. */
export const MOST_BODY_BYTES = 1024 * 1024;

const decoders: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Reads the bytes of a body, undefined where there were too many, by its Content-Encoding (RFC 9110 8.4). */
export async function decodeBody(
  bytes: Uint8Array | undefined,
  encoding: string | undefined,
): Promise<Pick<Answer, 'text' | 'json'>> {
  const tooLong = {
    text: '',
    json: { ok: false, why: `the body is longer than ${MOST_BODY_BYTES} bytes` },
  } as const;
  if (bytes === undefined) return tooLong;
  const name = encoding?.trim().toLowerCase() ?? '';
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decoder === undefined || bytes.length === 0) return readBody(bytes);
  try {
    return readBody(await decoder(bytes, { maxOutputLength: MOST_BODY_BYTES }));
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return tooLong;
    return { text: '', json: { ok: false, why: `the body is not ${encoding}, as Content-Encoding says` } };
  }
}
