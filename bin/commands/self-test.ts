import { exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { onOff, seed, wholeNumberFrom } from './flags.ts';

export const selfTest = command({
  usage: 'self-test',
  what: 'hold the suites against every fault and every variant of the mock',
  flags: {
    json: { ...onOff, describe: 'as JSON, with every pair' },
    combined: {
      ...wholeNumberFrom(0, 10_000),
      default: '20',
      describe: 'generated faults with a place and one condition, and as many with two',
    },
    seed: { ...seed, default: '1', describe: 'whole number that decides every drawn input' },
  },
  run: async (values, { env, print }) => {
    const { selfTest: run } = await import('../self-test.ts');
    const { loadFixture } = await import('../fixture-file.ts');
    const fixture = await loadFixture(undefined, env);
    const result = await run(fixture, values.seed, values.json, values.combined);
    await print(result.text);
    return result.gaps.length === 0 ? exitCodes.conformant[0] : exitCodes.nonconformant[0];
  },
});
