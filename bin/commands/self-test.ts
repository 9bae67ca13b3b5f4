import { exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { onOff, seed, wholeNumberFrom } from './flags.ts';

export const selfTest = command({
  usage: 'self-test',
  what: 'test the suites with every fault and every variant of the mock',
  flags: {
    json: { ...onOff, describe: 'print JSON, with every fault' },
    combined: {
      ...wholeNumberFrom(0, 10_000),
      default: '40',
      describe: 'generate this many faults of each kind',
    },
    seed: { ...seed, default: '1', describe: 'set the seed of all random values' },
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
