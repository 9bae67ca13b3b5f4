import { mockoonEnvironment, openApi, records } from './server-data.ts';

/** A server of those that are compared. */
export interface Server {
  readonly name: string;
  /** What npm installs; undefined for this package, which is packed first; empty for nothing. */
  readonly install: string | undefined;
  /** The package whose version is given; missing for what is of node itself. */
  readonly packageName?: string;
  /** Its command, of `node_modules/.bin`. */
  readonly command: string;
  readonly argv: (port: number) => readonly string[];
  /** Files beside it, by name. */
  readonly files: Readonly<Record<string, unknown>>;
  /** Path and query of a look-up that it answers with 200. */
  readonly request: string;
  /** The key of the look-up, where it is not the built-in fixture's. */
  readonly key?: string;
}

const lookup = '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111';

/** What node gives when nothing is looked at: the same bytes to everybody. */
export const bareHttp: Server = {
  name: 'bare node:http',
  install: '',
  command: 'node',
  argv: (port) => ['http.cjs', String(port)],
  files: {
    'http.cjs': `const body = Buffer.from('{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}');
const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store', 'Content-Length', String(body.length)];
require('node:http')
  .createServer((_, response) => response.writeHead(200, headers).end(body))
  .listen(Number(process.argv[2]), '127.0.0.1');
`,
  },
  request: lookup,
};

/** The least that a router gives. */
export const barePolka: Server = {
  name: 'bare polka',
  install: 'polka@1.0.0-next.28',
  packageName: 'polka',
  command: 'node',
  argv: (port) => ['polka.cjs', String(port)],
  files: {
    'polka.cjs': `require('polka')()
  .get('/api/ib/user-status', (_, response) => response.end('{}'))
  .listen(Number(process.argv[2]), '127.0.0.1');
`,
  },
  request: lookup,
};

/** The mock, as a user has it; the script says how many ms it takes in process, once everything has been imported. */
export const ours: Server = {
  name: 'ib-conformance',
  install: undefined,
  packageName: 'ib-conformance',
  command: 'ib-conformance',
  argv: (port) => ['mock', '--port', String(port), '--log', 'silent'],
  files: {
    'in-process.mjs': `import { createServer } from 'node:http';
import { startMock } from 'ib-conformance/mock';
const what = process.argv[2];
if (what === 'second') await (await startMock({ port: 0 })).close();
const begun = performance.now();
const server =
  what === 'http'
    ? await new Promise((listening) => {
        const bare = createServer().listen(0, '127.0.0.1', () => listening(bare));
      })
    : await startMock({ port: 0 });
process.stdout.write(String(performance.now() - begun));
await server.close();
`,
  },
  request: lookup,
};

/** Each serves the interface as well as it can, quietly, on loopback; the bare ones are the yardsticks. */
export const servers: readonly Server[] = [
  bareHttp,
  barePolka,
  ours,
  {
    name: 'Prism',
    install: '@stoplight/prism-cli',
    packageName: '@stoplight/prism-cli',
    command: 'prism',
    argv: (port) => ['mock', 'openapi.json', '--port', String(port), '--host', '127.0.0.1', '-v', 'silent'],
    files: { 'openapi.json': openApi },
    request: lookup,
  },
  {
    name: 'Mockoon',
    install: '@mockoon/cli',
    packageName: '@mockoon/cli',
    command: 'mockoon-cli',
    argv: (port) => ['start', '--data', 'environment.json', '--port', String(port), '--disable-log-to-file'],
    files: { 'environment.json': mockoonEnvironment },
    request: lookup,
  },
  {
    name: 'json-server',
    install: 'json-server',
    packageName: 'json-server',
    command: 'json-server',
    argv: (port) => ['records.json', '--port', String(port), '--host', '127.0.0.1', '--quiet'],
    files: { 'records.json': records },
    request: '/user-status?user_id=11111111-1111-4111-8111-111111111111',
  },
];

/** The mock with further flags. */
export const oursWith = (...flags: readonly string[]): Server => ({
  ...ours,
  argv: (port) => [...ours.argv(port), ...flags],
});
