import { command } from './command.ts';

export const healthcheck = command({
  usage: 'healthcheck [url]',
  what: 'exit with 0 where a mock answers, with 1 where none does',
  positionals: {
    url: { type: 'string', default: 'http://127.0.0.1:4010', describe: '{base_url} of the mock' },
  },
  run: async ({ url }, { writeError }) => {
    const [{ ailment }, { targetUrl }] = await Promise.all([
      import('../healthcheck.ts'),
      import('../values.ts'),
    ]);
    const problem = await ailment(targetUrl(url));
    if (problem === undefined) return 0;
    writeError(`ib-conformance: ${url} is not healthy: ${problem}\n`);
    return 1;
  },
});
