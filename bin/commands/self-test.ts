import { exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { onOff, text } from './flags.ts';

export const selfTest = command({
  usage: 'self-test',
  what: 'hold the suites against every fault and every variant of the mock',
  flags: {
    json: { ...onOff, describe: 'as JSON, with every pair' },
    seed: { ...text, default: '1', describe: 'whole number that decides every drawn input' },
  },
  run: async ({ json, seed }, { env, print }) => {
    const [self, { loadFixture }, { wholeNumber }] = await Promise.all([
      import('../self-test.ts'),
      import('../fixture-file.ts'),
      import('../values.ts'),
    ]);
    const fixture = await loadFixture(undefined, env);
    const result = await self.selfTest(fixture, wholeNumber('seed', seed, -(2 ** 31), 2 ** 31 - 1), json);
    await print(result.text);
    return result.gaps.length === 0 ? exitCodes.conformant[0] : exitCodes.nonconformant[0];
  },
});
