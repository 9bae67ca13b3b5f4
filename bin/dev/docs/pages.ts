import {
  answerOfLast,
  commands,
  elsewhere,
  excerptOf,
  outputOf,
  outputOfLast,
  program,
  runByCi,
  SHORT,
} from './runners.ts';
import type { Runner } from './runners.ts';

const ci = elsewhere('bin/dev/action.test.ts', 'docs/ci.md');
const image = elsewhere('bin/dev/container.test.ts', 'docs/container.md');
const examples = elsewhere('bin/dev/examples/check.ts', 'docs/provide-data.md');

/** The server at this port, in every page, swaps day and month. */
const found = 'npx ib-conformance verify http://127.0.0.1:4998';
const example = outputOf(`${found} --fixture schemas/built-in.fixture.json --suite valid --seed 7`);

const typescript = (name: string) => program(name, `node --import "$TSX" ${name}`);
const tests = (name: string) => program(name, `node --import "$TSX" --test ${name}`);
const vitest = (name: string) => program(name, `npx vitest run ${name}`, 'npx vitest --version');
/** The tests pass with a mock of their own, and twice with one that goes on running. */
const thrice = (command: string) =>
  `${command} && export IB_MOCK_URL=http://127.0.0.1:4010 && ${command} && ${command}`;
const pytest = (name: string) =>
  program(name, thrice(`python3 -m pytest -q ${name}`), 'python3 -m pytest --version');
const hook = program(
  'state.json',
  'curl -sSf -H "Content-Type: application/json" -d @state.json http://localhost:8090',
);
const junit = (name: string) =>
  program(
    `${name}.java`,
    `javac -cp '/usr/share/java/*' -d classes ${name}.java && ${thrice(`java -cp 'classes:/usr/share/java/*' org.junit.platform.console.ConsoleLauncher --select-class ${name} --fail-if-no-tests`)}`,
    'javac -version && test -e /usr/share/java/junit-platform-console.jar',
  );

/** Runs a sweep with a few of its states. */
const sweeps =
  (code = 0): Runner =>
  (text, reader, t) => {
    const few =
      'sweep --only limited --only amount-in-cents --only time-in-seconds --only foreign-user-is-member';
    const line = text.replace('sweep', few).replace('--import tsx', '--import "$TSX"');
    return commands(code)(line, reader, t);
  };

/** The pages whose first block is the fixture of the server that they speak of; for others it is the built-in one. */
export const withOwnFixture: readonly string[] = ['docs/verify.md'];

/** Every page with blocks, and for each block what runs it. */
export const pages: Readonly<Record<string, readonly Runner[]>> = {
  // What the first run cannot judge makes it incomplete.
  'README.md': [commands(), commands(), commands(0, 0, 3), runByCi],
  'docs/type-less.md': [
    commands(),
    commands(),
    program('given.json', 'GATEWAY_TOKEN=t npx ib-conformance verify --plan --config given.json'),
    elsewhere('bin/commands/completion.test.ts', 'completion bash'),
  ],
  'docs/verify.md': [
    program('fixture.json'),
    commands(),
    commands(),
    commands(),
    // Its command is that of the block on verifying.
    (text, reader, t) => commands()(/npx .*\n/.exec(text)![0], reader, t),
  ],
  'docs/known-failures.md': [
    program('known.json', `${found} --fixture fixture.json --suite valid --baseline known.json${SHORT}`),
  ],
  'docs/verify-in-tests.md': [tests('conformance.test.ts'), typescript('verify.ts')],
  'docs/how-it-works.md': [elsewhere('bin/dev/docs/docs.test.ts', '<br>')],
  'docs/strength.md': [
    elsewhere('reports/strength.test.ts', 'levels missing from the fixture'),
    elsewhere('reports/console.golden.txt', 'fails when'),
  ],
  'docs/read-a-report.md': [example],
  'docs/reports.md': [
    async (text, reader, t) => {
      // The page speaks of the records of earlier runs.
      await reader.run(`npx ib-conformance verify --report json=run.json --report ndjson=run.ndjson${SHORT}`);
      await reader.run('cp run.json main.json && cp run.json branch.json');
      await commands()(text, reader, t);
    },
    commands(),
  ],
  'docs/provide-data.md': [...Array<Runner>(7).fill(examples), commands()],
  'docs/rate-limits.md': [program('limits.json', 'npx ib-conformance fixture check limits.json'), commands()],
  'docs/state-hook.md': [commands(), hook, hook, commands()],
  'docs/ci.md': [ci, ci, ci],
  'docs/mock.md': [commands(), commands(), commands()],
  'docs/admin-api.md': [commands(), answerOfLast, commands()],
  'docs/container.md': [image, image, image],
  'docs/mock-in-tests.md': [
    tests('node.test.ts'),
    vitest('clock.test.ts'),
    vitest('fetch.test.ts'),
    elsewhere('bin/dev/package/check.ts', 'CommonJS can require every entry'),
    elsewhere('mock/in-process.test.ts', 'answers like a mock on a port'),
    typescript('controls.ts'),
  ],
  'docs/mock-beside-tests.md': [program('conftest.py'), pytest('test_deposits.py'), junit('DepositsTest')],
  'docs/sweep.md': [
    elsewhere('bin/sweep.test.ts', "'sweep'"),
    program('client.py'),
    program('test_client.py'),
    sweeps(1),
    outputOfLast,
    async (text, reader, t) => {
      reader.write('line', `        ${text}`);
      await reader.run("sed -i -e '/assertEqual/{r line' -e 'd}' test_client.py");
      await sweeps()('npx ib-conformance sweep -- python3 -m unittest', reader, t);
    },
    program('client.ts'),
    program('client.test.ts'),
    sweeps(),
  ],
  'docs/write-a-requirement.md': [
    excerptOf('suites/foreign-ib.ts'),
    excerptOf('mock/faults/foreign-ib.ts'),
    commands(0, 1),
    runByCi,
  ],
};
