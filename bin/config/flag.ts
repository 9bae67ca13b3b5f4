/** The config file that is looked for in the working directory. */
export const CONFIG_FILE = 'ib-conformance.config.json';

/** The flag of every command that takes what was not typed from variables and a file. */
export const config = {
  type: 'string',
  requiresArg: true,
  configurable: 'by variable',
  describe: `JSON file of what is not typed: an object for each command, with flags as keys (default: ${CONFIG_FILE}, where there is one); before it come variables such as IB_FIXTURE`,
} as const;
