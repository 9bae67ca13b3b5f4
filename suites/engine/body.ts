import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { readBeginning, readBody, type Answer } from '../answer.ts';

/**
 * An answer's body is read up to here, packed and unpacked: the interface's own are a hundred bytes, and
 * a burst holds a thousand answers at once.
 */
export const MOST_BODY_BYTES = 16 * 1024;

const decoders: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>
> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Reads the bytes of a body by its Content-Encoding (RFC 9110 8.4). */
export function decodeBody(bytes: Uint8Array, encoding: string | undefined): Pick<Answer, 'text' | 'json'> {
  const name = encoding?.trim().toLowerCase() ?? '';
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  const why = `the body is longer than ${MOST_BODY_BYTES} bytes`;
  if (bytes.length > MOST_BODY_BYTES)
    return { text: decoder === undefined ? readBeginning(bytes) : '', json: { ok: false, why } };
  if (decoder === undefined || bytes.length === 0) return readBody(bytes);
  try {
    return readBody(decoder(bytes, { maxOutputLength: MOST_BODY_BYTES }));
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      return { text: '', json: { ok: false, why } };
    return { text: '', json: { ok: false, why: `the body is not ${encoding}, as Content-Encoding says` } };
  }
}
