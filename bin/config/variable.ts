/** The variable that stands for a flag: `IB_STATE_URL` for `--state-url`. */
export const variableOf = (name: string) => `IB_${name.toUpperCase().replaceAll('-', '_')}`;

/**
 * What Kubernetes sets in `IB_PORT` and `IB_ADMIN_PORT` of every container beside services called `ib`
 * and `ib-admin`: the address of these, and nobody's word on where to listen.
 */
export const isServiceLink = (text: string) => /^(?:tcp|udp|sctp):\/\/[^/]+:\d+$/.test(text);
