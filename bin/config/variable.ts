/** The variable that stands for a flag: `IB_STATE_URL` for `--state-url`. */
export const variableOf = (name: string) => `IB_${name.toUpperCase().replaceAll('-', '_')}`;
