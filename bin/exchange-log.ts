import { closeSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { safeJson } from '../reports/index.ts';
import { recordExchange, redactor, type RunExchange, type RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { makeFolder, writeProblem } from './output-files.ts';

/** The file of `--log`. */
export interface ExchangeLog {
  readonly write: (line: object) => void;
  /** @throws Problem with code `usage` if the file is incomplete */
  readonly close: () => void;
}

/**
 * Opens the file of `--log`. Each line is written at once, so that a killed run leaves them. The first error is
 * printed at once, too.
 *
 * @throws Problem with code `usage` if the file cannot be written
 */
export function openLog(file: string, writeError: CliContext['writeError']): ExchangeLog {
  let failure: Error | undefined;
  const attempt = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw writeProblem(file, 'the log', error);
    }
  };
  attempt(() => makeFolder(dirname(file)));
  // What is in /dev may be an open file: other output to it stays.
  const descriptor = attempt(() => openSync(file, file.startsWith('/dev/') ? 'a' : 'w'));
  return {
    write: (line) => {
      if (failure !== undefined) return;
      try {
        attempt(() => writeFileSync(descriptor, `${safeJson(line)}\n`));
      } catch (error) {
        failure = error as Error;
        writeError(`ib-conformance: ${failure.message}\n`);
      }
    },
    close: () => {
      closeSync(descriptor);
      if (failure !== undefined) throw failure;
    },
  };
}

type LogOptions = Pick<RunOptions, 'known' | 'headers' | 'target' | 'clock'>;

/** A line of the log, when an exchange ends. Keys are redacted. */
export function logLine(exchange: RunExchange, options: LogOptions) {
  const { known, headers, target, clock } = options;
  const {
    reply,
    of,
    request: { endpoint },
  } = exchange;
  const redact = redactor(known, headers);
  const { request, key, trace, response, trouble } = recordExchange(exchange, target.href, redact, known);
  const time = new Date(clock.now()).toISOString();
  const came =
    reply.kind === 'answer' ? { response, ms: Math.round(reply.tookMs * 10) / 10 } : { error: trouble };
  return { time, endpoint, for: of, request, key, trace, ...came };
}
