/** A mistake that is put into an example, and the requirements that must fail. */
export interface Break {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly fails: readonly string[];
}

/** An example of a conforming server. */
export interface ExampleServer {
  /** In the guide the command that starts it stands under this heading. */
  readonly heading: string;
  readonly file: string;
  /** Prints `ok` if its limiter looks and counts in one step, which no run can be sure to see. */
  readonly checksLimiter: string;
  readonly breaks: readonly Break[];
}

/** The same mistakes in each language; only the placeholder of a query is written in another way. */
const breaks = (placeholder: string): readonly Break[] => [
  {
    what: 'a dot after the message of 404',
    from: '"Deposit not found"',
    to: '"Deposit not found."',
    fails: ['foreign-ib/deposit-check/unknown', 'pending/deposit-check/pending'],
  },
  {
    what: "another partner's deposit is visible",
    from: `users.partner = ${placeholder} AND`,
    to: `(users.partner = ${placeholder} OR true) AND`,
    fails: ['foreign-ib/deposit-check/other-ib'],
  },
];

/** Only in one server, as the run waits for windows to end. A limit near the stated one, and one above it, need a fast machine to be seen. */
const tightLimiter: Break = {
  what: 'fewer requests pass than stated',
  from: 'Limiter(60, 3)',
  to: 'Limiter(10, 3)',
  fails: ['rate-limit/user-status/failed-lookups'],
};

export const exampleServers: readonly ExampleServer[] = [
  {
    heading: 'Python',
    file: 'examples/python/server.py',
    checksLimiter: 'python3 -B bin/dev/examples/limiter_check.py examples/python',
    breaks: [...breaks('%s'), tightLimiter],
  },
  {
    heading: 'Java',
    file: 'examples/java/Server.java',
    checksLimiter:
      'javac -d classes examples/java/Server.java bin/dev/examples/LimiterCheck.java && java -cp classes LimiterCheck',
    breaks: breaks('?'),
  },
];
