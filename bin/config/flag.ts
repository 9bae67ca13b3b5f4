/** The config file that is looked for in the working directory. */
export const CONFIG_FILE = 'ib-conformance.config.json';

/** The flag of every command that takes what was not typed from variables and a file. */
export const config = {
  type: 'string',
  requiresArg: true,
  names: 'file',
  configurable: 'by variable',
  describe: 'JSON file of flags, behind IB_URL and such',
} as const;
