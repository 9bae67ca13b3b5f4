import type { Fixture } from './generated/types.ts';

/** Keys as shells and CI systems leave them if they do not replace a variable, or hide its value. */
const unexpanded: Readonly<Record<string, RegExp>> = {
  'a variable that was not replaced': /^\$\w+$|^\$?\{\{.*\}\}$|^%\w+%$/,
  'a text in quotes': /^(["'`]).*\1$/,
  'a value that was hidden': /^[*•x]{3,}$/i,
  'a placeholder': /^<.+>$|^\.{3}$|^…$/,
};

/** Before this time (ms, 2001), a number of ms is likelier one of seconds. */
const FIRST_MS = 1e12;

/** What a valid fixture has that is likely a mistake, with its place. No key is shown. */
export function fixtureWarnings({ apiKeys = [], deposits = [] }: Fixture): readonly string[] {
  const keys = apiKeys.flatMap(({ key }, at) =>
    Object.entries(unexpanded).flatMap(([what, pattern]) =>
      pattern.test(key.trim()) ? [`apiKeys[${at}].key looks like ${what}`] : [],
    ),
  );
  const early = deposits.findIndex((one) => one.state === 'EXECUTED' && one.executedAt < FIRST_MS);
  const deposit = deposits[early];
  if (deposit?.state !== 'EXECUTED') return keys;
  const year = new Date(deposit.executedAt).getUTCFullYear();
  return [...keys, `deposits[${early}].executedAt is in ${year}: it is in ms, and this may be seconds`];
}
