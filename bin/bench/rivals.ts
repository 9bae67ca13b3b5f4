import { mockoonEnvironment, openApi, records } from './rival-data.ts';

/** A mock server of those that are compared. */
export interface Rival {
  readonly name: string;
  /** What npm installs; undefined for this package, which is packed first; empty for nothing. */
  readonly install: string | undefined;
  /** The package whose version the table gives; missing for what is of node itself. */
  readonly packageName?: string;
  /** Its command, of `node_modules/.bin`. */
  readonly command: string;
  readonly argv: (port: number) => readonly string[];
  /** Files that it reads, by name. */
  readonly files: Readonly<Record<string, unknown>>;
  /** Path and query of the look-up of a member. */
  readonly request: string;
}

const lookup = '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111';

/** Each serves the interface as well as it can, quietly, on loopback; the last one is the yardstick. */
export const rivals: readonly Rival[] = [
  {
    name: 'ib-conformance',
    install: undefined,
    packageName: 'ib-conformance',
    command: 'ib-conformance',
    argv: (port) => ['mock', '--port', String(port), '--log', 'silent'],
    files: {},
    request: lookup,
  },
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
  {
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
  },
];

/** What node gives when nothing is looked at: the same bytes to everybody. */
export const bareHttp: Rival = {
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
