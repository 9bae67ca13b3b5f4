import { renderJson, renderCheckup } from '../reports/index.ts';
import type { Checkup } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { trustOf } from './certificates.ts';
import { ourHeaders } from './defaults.ts';
import { examination } from './examination.ts';
import { exitCodes } from './exit-codes.ts';
import { loadFixture } from './fixture-file.ts';
import { spareOptimizing } from './spare-optimizing.ts';
import type { CliContext } from './cli-context.ts';
import { headerFields, targetUrl, wholeNumber } from './values.ts';

/** The flags of `doctor`, as they were typed. */
export interface DoctorFlags {
  readonly url?: string | undefined;
  readonly fixture?: string | undefined;
  readonly partner?: string | undefined;
  readonly timeout: string;
  readonly header: readonly string[];
  readonly ca?: string | undefined;
  readonly insecure: boolean;
  readonly stateUrl?: string | undefined;
  readonly json: boolean;
}

/** How a checkup ends the process. */
export const codeOfCheckup = {
  well: exitCodes.conformant[0],
  ill: exitCodes.nonconformant[0],
  unreachable: exitCodes.unreachable[0],
} as const satisfies Record<Checkup['verdict'], number>;

/** Says what a run would meet at a target, and returns the exit code. */
export async function doctor(flags: DoctorFlags, context: CliContext): Promise<number> {
  const { env, signal, print, terminal } = context;
  const timeoutMs = wholeNumber('timeout', flags.timeout, 1, 5000);
  if (flags.url === undefined)
    throw new Problem('usage', 'doctor: which server? Give its URL, or set IB_URL');
  const target = targetUrl(flags.url);
  const headers = { ...ourHeaders, ...headerFields(flags.header) };
  const stateUrl = flags.stateUrl === undefined ? undefined : targetUrl(flags.stateUrl);
  const trust = await trustOf(flags);
  const fixture = await loadFixture(flags.fixture, env);
  spareOptimizing();
  const checkup = await examination({
    target,
    fixture,
    partner: flags.partner,
    timeoutMs,
    headers,
    trust,
    ...(stateUrl === undefined ? {} : { stateUrl }),
    signal,
    notes:
      flags.fixture === undefined
        ? ['No --fixture was given: the target was taken to hold the built-in one.']
        : [],
  });
  await print(flags.json ? renderJson(checkup) : renderCheckup(checkup, terminal));
  return signal.aborted ? exitCodes.interrupted[0] : codeOfCheckup[checkup.verdict];
}
