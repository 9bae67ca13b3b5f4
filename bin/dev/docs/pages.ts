import {
  lastJson,
  commands,
  checkedBy,
  excerptOf,
  outputOf,
  lastOutput,
  file,
  runByCi,
  SHORT,
} from './runners.ts';
import type { Runner } from './runners.ts';

const ci = checkedBy('bin/dev/action.test.ts', 'docs/ci.md');
const image = checkedBy('bin/dev/container.test.ts', 'docs/container.md');
const examples = checkedBy('bin/dev/examples/check-examples.ts', 'docs/provide-data.md');

/** In every page, the server at this port swaps day and month. */
const verify = 'npx ib-conformance verify http://127.0.0.1:4998';
const example = outputOf(`${verify} --fixture schemas/built-in.fixture.json --suite valid --seed 7`);

const typescript = (name: string) => file(name, `node --import "$TSX" ${name}`);
const tests = (name: string) => file(name, `node --import "$TSX" --test ${name}`);
const vitest = (name: string) => file(name, `npx vitest run ${name}`, 'npx vitest --version');
/** Runs tests once with their own mock, and twice with a running one. */
const withAndWithoutUrl = (command: string) =>
  `${command} && export IB_MOCK_URL=http://127.0.0.1:4010 && ${command} && ${command}`;
const pytest = (name: string) =>
  file(name, withAndWithoutUrl(`python3 -m pytest -q ${name}`), 'python3 -m pytest --version');
const hook = file(
  'state.json',
  'curl -sSf -H "Content-Type: application/json" -d @state.json http://localhost:8090',
);
const junit = (name: string) =>
  file(
    `${name}.java`,
    `javac -cp '/usr/share/java/*' -d classes ${name}.java && ${withAndWithoutUrl(`java -cp 'classes:/usr/share/java/*' org.junit.platform.console.ConsoleLauncher --select-class ${name} --fail-if-no-tests`)}`,
    'javac -version && test -e /usr/share/java/junit-platform-console.jar',
  );

/** Runs a sweep with only a few states. */
const runSweep =
  (code = 0): Runner =>
  (text, reader, t) => {
    const few =
      'sweep --only limited --only amount-in-cents --only time-in-seconds --only foreign-user-is-member';
    const line = text.replace('sweep', few).replace('--import tsx', '--import "$TSX"');
    return commands(code)(line, reader, t);
  };

/** Pages whose first block is the fixture of their server. Others use the built-in fixture. */
export const withOwnFixture: readonly string[] = ['docs/verify.md'];

/** By page: a runner for each code block. */
export const pages: Readonly<Record<string, readonly Runner[]>> = {
  // The first run is incomplete.
  'README.md': [commands(), commands(), commands(0, 0, 3), runByCi],
  'docs/type-less.md': [
    commands(),
    commands(),
    file('given.json', 'GATEWAY_TOKEN=t npx ib-conformance verify --plan --config given.json'),
    checkedBy('bin/commands/completion.test.ts', 'completion bash'),
  ],
  'docs/verify.md': [
    file('fixture.json'),
    commands(),
    commands(),
    commands(),
    // Runs only the command `npx`.
    (text, reader, t) => commands()(/npx .*\n/.exec(text)![0], reader, t),
  ],
  'docs/known-failures.md': [
    file('known.json', `${verify} --fixture fixture.json --suite valid --baseline known.json${SHORT}`),
  ],
  'docs/verify-in-tests.md': [tests('conformance.test.ts'), typescript('verify.ts')],
  'docs/how-it-works.md': [checkedBy('bin/dev/docs/docs.test.ts', '<br>')],
  'docs/strength.md': [
    checkedBy('reports/strength.test.ts', 'levels missing from the fixture'),
    checkedBy('reports/console.golden.txt', 'fails when'),
  ],
  'docs/read-a-report.md': [example],
  'docs/reports.md': [
    async (text, reader, t) => {
      // The page uses records of earlier runs.
      await reader.run(`npx ib-conformance verify --report json=run.json --report ndjson=run.ndjson${SHORT}`);
      await reader.run('cp run.json main.json && cp run.json branch.json');
      await commands()(text, reader, t);
    },
    commands(),
  ],
  'docs/provide-data.md': [...Array<Runner>(7).fill(examples), commands()],
  'docs/rate-limits.md': [file('limits.json', 'npx ib-conformance fixture check limits.json'), commands()],
  'docs/state-hook.md': [commands(), hook, hook, commands()],
  'docs/ci.md': [ci, ci, ci],
  'docs/mock.md': [commands(), commands(), commands()],
  'docs/admin-api.md': [commands(), lastJson, commands()],
  'docs/container.md': [image, image, image],
  'docs/mock-in-tests.md': [
    tests('node.test.ts'),
    vitest('clock.test.ts'),
    vitest('fetch.test.ts'),
    checkedBy('bin/dev/package/check-package.ts', 'CommonJS can require every entry'),
    checkedBy('mock/in-process.test.ts', 'answers like a mock on a port'),
    typescript('controls.ts'),
  ],
  'docs/mock-beside-tests.md': [file('conftest.py'), pytest('test_deposits.py'), junit('DepositsTest')],
  'docs/sweep.md': [
    checkedBy('bin/sweep.test.ts', "'sweep'"),
    file('client.py'),
    file('test_client.py'),
    runSweep(1),
    lastOutput,
    async (text, reader, t) => {
      reader.write('line', `        ${text}`);
      await reader.run("sed -i -e '/assertEqual/{r line' -e 'd}' test_client.py");
      await runSweep()('npx ib-conformance sweep -- python3 -m unittest', reader, t);
    },
    file('client.ts'),
    file('client.test.ts'),
    runSweep(),
  ],
  'docs/write-a-requirement.md': [
    excerptOf('suites/foreign-ib.ts'),
    excerptOf('mock/faults/foreign-ib.ts'),
    commands(0, 1),
    runByCi,
  ],
};
