/** Ways to normalize a path that servers and proxies have, by the id of a fault or a variant. */
export const normalizers = {
  'double-slash': ['with two slashes in a row', (path) => path.replace(/\/{2,}/g, '/')],
  'path-case': ['in upper case', (path) => path.toLowerCase()],
  'trailing-slash': ['with a slash at its end', (path) => path.replace(/(?<=.)\/$/, '')],
  'dot-segments': ['with /./ or /x/../', (path) => new URL(path.replace(/^\/+/, '/'), 'http://x').pathname],
  'matrix-dots': ['with /x/..;/', (path) => path.replace(/\/[^/]+\/\.\.;(?=\/)/g, '')],
  'encoded-dots': ['with /x/%2e%2e/', (path) => path.replace(/\/[^/]+\/%2e%2e(?=\/)/gi, '')],
  backslash: ['with \\ for a slash', (path) => path.replaceAll('\\', '/')],
  'encoded-slash': ['with %2F', (path) => path.replace(/%2f/gi, '/')],
  'encoded-letter': [
    'with a percent-encoded letter',
    (path) => path.replace(/%([46]\d|[57]\d)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
  ],
  'path-parameter': ['with ;x=1', (path) => path.replace(/;[^/]*/g, '')],
  suffix: ['with .json', (path) => path.replace(/\.json$/, '')],
  'encoded-space': ['with %20 at its end', (path) => path.replace(/%20$/, '')],
} as const satisfies Readonly<Record<string, readonly [words: string, normalize: (path: string) => string]>>;
