import {
  answerOfLast,
  commands,
  elsewhere,
  excerptOf,
  file,
  outputOf,
  program,
  runByCi,
  type Runner,
} from './runners.ts';

/** How a page's blocks are run. */
export interface Page {
  /** A runner for each block, in the order of the page. */
  readonly blocks: readonly Runner[];
  /** Whether the first block is the fixture of the server that the page speaks of; else the built-in one is. */
  readonly hasFixture?: true;
  /** What the reader has done before. */
  readonly before?: string;
}

const ci = elsewhere('bin/dev/action.test.ts', 'docs/ci.md');
const image = elsewhere('bin/dev/container.test.ts', 'docs/container.md');
const examples = elsewhere('bin/dev/examples/check.ts', 'docs/provide-data.md');

/** The server at this port, in every page, swaps day and month. */
const found = 'npx ib-conformance verify http://127.0.0.1:4998';
const example = outputOf(`${found} --fixture schemas/built-in.fixture.json --suite valid --seed 7`, 1);

const typescript = (name: string) => program(name, `node --import "$TSX" ${name}`);
const tests = (name: string) => program(name, `node --import "$TSX" --test ${name}`);
const vitest = (name: string) => program(name, `npx vitest run ${name}`, 'npx vitest --version');
const pytest = (name: string) => program(name, `python3 -m pytest -q ${name}`, 'python3 -m pytest --version');
const hook = program(
  'state.json',
  'curl -sSf -H "Content-Type: application/json" -d @state.json http://localhost:8090',
);

const jars = [
  'junit-jupiter-api',
  'junit-jupiter-engine',
  'junit-platform-console',
  'junit-platform-commons',
  'junit-platform-engine',
  'junit-platform-launcher',
  'junit-platform-reporting',
  'opentest4j',
  'apiguardian-api',
  'picocli',
]
  .map((jar) => `/usr/share/java/${jar}.jar`)
  .join(':');
const junit = (name: string) =>
  program(
    `${name}.java`,
    `javac -cp ${jars} -d classes ${name}.java && java -cp ${jars} org.junit.platform.console.ConsoleLauncher --class-path classes --select-class ${name}`,
    `javac -version && test -e /usr/share/java/junit-platform-console.jar`,
  );

/** Every page with blocks, by its file. */
export const pages: Readonly<Record<string, Page>> = {
  'README.md': {
    // What the first run cannot judge makes it incomplete.
    blocks: [example, commands(), commands(), commands(0, 0, 3), runByCi],
  },
  'docs/type-less.md': {
    blocks: [
      commands(),
      commands(),
      program('given.json', 'GATEWAY_TOKEN=t npx ib-conformance verify --plan --config given.json'),
      elsewhere('bin/commands/completion.test.ts', 'completion bash'),
    ],
  },
  'docs/verify.md': {
    hasFixture: true,
    blocks: [
      file('fixture.json'),
      commands(),
      commands(),
      commands(),
      program('known.json', `${found} --fixture fixture.json --suite valid --baseline known.json`),
      tests('conformance.test.ts'),
      typescript('verify.ts'),
      elsewhere('bin/self-test.test.ts', 'selfTest'),
    ],
  },
  'docs/read-a-report.md': {
    before:
      'npx ib-conformance verify --no-canary --report json=run.json --report ndjson=run.ndjson && cp run.json main.json && cp run.json branch.json',
    blocks: [example, commands(), commands()],
  },
  'docs/provide-data.md': { blocks: [...Array<Runner>(7).fill(examples), commands()] },
  'docs/rate-limits.md': {
    blocks: [program('limits.json', 'npx ib-conformance fixture check limits.json'), commands()],
  },
  'docs/state-hook.md': { blocks: [commands(), hook, hook, commands()] },
  'docs/ci.md': { blocks: [ci, ci, ci] },
  'docs/mock.md': { blocks: [commands(), commands(), commands()] },
  'docs/admin-api.md': { blocks: [commands(), answerOfLast, commands()] },
  'docs/container.md': { blocks: [image, image, image] },
  'docs/mock-in-tests.md': {
    blocks: [
      tests('node.test.ts'),
      vitest('clock.test.ts'),
      vitest('fetch.test.ts'),
      file('conftest.py'),
      pytest('test_deposits.py'),
      junit('DepositsTest'),
      typescript('controls.ts'),
    ],
  },
  'docs/write-a-requirement.md': {
    blocks: [
      excerptOf('suites/foreign-ib.ts'),
      excerptOf('mock/faults/foreign-ib.ts'),
      commands(0, 1),
      runByCi,
    ],
  },
};
