/** A change to the text of an example, and the requirements that have to notice. */
export interface Break {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** Flags that narrow the run to what speaks of it. */
  readonly flags: readonly string[];
  readonly fails: readonly string[];
}

/** An example of a conforming server. */
export interface ExampleServer {
  /** The heading of the guide under which the command stands that starts it. */
  readonly heading: string;
  readonly file: string;
  /** Prints `ok` where its limiter looks and counts in one step: no run can be sure to meet two requests between. */
  readonly checksLimiter: string;
  readonly breaks: readonly Break[];
}

/** The same mistakes in each language; only the placeholder of a query is written in another way. */
const breaks = (placeholder: string): readonly Break[] => [
  {
    what: 'a dot after the message of 404',
    from: '"Deposit not found"',
    to: '"Deposit not found."',
    flags: ['--only', 'foreign-ib/deposit-check/unknown', '--only', 'pending/deposit-check/pending'],
    fails: ['foreign-ib/deposit-check/unknown', 'pending/deposit-check/pending'],
  },
  {
    what: "another partner's deposit is visible",
    from: `users.partner = ${placeholder} AND`,
    to: `(users.partner = ${placeholder} OR true) AND`,
    flags: ['--only', 'foreign-ib/deposit-check/other-ib', '--only', 'foreign-ib/deposit-check/unknown'],
    fails: ['foreign-ib/deposit-check/other-ib'],
  },
];

/** Waits for windows to end, so one server has to do. */
const looseLimiter: Break = {
  what: 'one request more than is stated passes',
  from: 'Limiter(250, 3)',
  to: 'Limiter(251, 3)',
  flags: ['--only', 'rate-limit/deposit-check/requests'],
  fails: ['rate-limit/deposit-check/requests'],
};

export const exampleServers: readonly ExampleServer[] = [
  {
    heading: 'Python',
    file: 'examples/python/server.py',
    checksLimiter: 'python3 -B bin/dev/examples/limiter_check.py examples/python',
    breaks: [...breaks('%s'), looseLimiter],
  },
  {
    heading: 'Java',
    file: 'examples/java/Server.java',
    checksLimiter:
      'javac -d classes examples/java/Server.java bin/dev/examples/LimiterCheck.java && java -cp classes LimiterCheck',
    breaks: breaks('?'),
  },
];
