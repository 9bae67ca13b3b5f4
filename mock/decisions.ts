/** Something that the interface leaves open, and what the mock does. */
export interface Decision {
  readonly question: string;
  readonly answer: string;
}

/** The decisions of the reference behaviour, in words; `decisions.test.ts` holds each of them. */
export const decisions = [
  { question: 'Order of the checks', answer: '401, then 429, then 400, then the lookup' },
  { question: 'Scheme of Authorization', answer: 'Bearer in any letter case, one space or more, the key' },
  { question: 'Repeated parameter', answer: 'the first one counts' },
  { question: 'Unknown parameter', answer: 'ignored' },
  { question: 'Letter case of parameter names', answer: 'counts' },
  { question: 'Percent-encoding in a value', answer: 'decoded, also of unreserved characters; + is a space' },
  { question: 'Broken percent-encoding', answer: 'an invalid value: 400' },
  { question: 'Versions of reference_id', answer: '1 to 8 with the RFC variant; nil and max are invalid' },
  { question: 'HEAD', answer: 'like GET, without the body' },
  { question: 'Other methods', answer: '405 with Allow, {"error":"Method not allowed"}, without a key too' },
  { question: 'Other paths', answer: '404, {"error":"Not found"}, without a key too' },
  { question: 'Trailing slash, or other letter case, in a path', answer: 'another path' },
  { question: 'Body of a request', answer: 'read up to 64 KiB (then 413) and ignored' },
  { question: 'What is no HTTP request', answer: '400, header fields above 64 KiB 431, as {"error":…}' },
  {
    question: 'A request that does not arrive',
    answer: '408, header fields after 60 s and all of it after 300 s, looked after each 30 s',
  },
  { question: 'Failed lookup', answer: '400, or a user who is not under the IB, with an accepted key' },
  {
    question: 'What deposit-check counts',
    answer: 'every request with an accepted key, until it is limited',
  },
  { question: 'Scope of a limiter', answer: 'one key on one endpoint' },
  { question: 'Window of a limiter', answer: 'fixed, from the first counted request' },
  {
    question: 'Threshold N',
    answer: 'N counted requests pass, then the key gets 429 on that endpoint until the window ends',
  },
  { question: 'No limits in the fixture', answer: 'no limiter' },
  { question: 'Retry-After', answer: 'on 429, in whole seconds, rounded up' },
  { question: 'WWW-Authenticate', answer: 'Bearer, on 401' },
  {
    question: 'Prefer',
    answer: 'code=429 forces that answer, with an accepted key; Preference-Applied says so',
  },
  { question: 'Caching', answer: 'Cache-Control: no-store on every answer' },
  { question: 'Transition after polls', answer: "so many polls by the partner's keys get 404, the next 200" },
  {
    question: 'Expiry of a key',
    answer:
      '`expiresAt` in Unix ms, or `expiresAfterSeconds` from the start of the mock; from that ms on 401',
  },
  {
    question: 'Limits of a key',
    answer: 'its own, where the fixture has them, in place of those for all; 0: always limited',
  },
  { question: 'Date', answer: "of the mock's clock, on every answer" },
  { question: 'Transition after seconds', answer: 'counted from the start of the mock' },
  {
    question: 'executedAt after a transition',
    answer: "the fixture's, or else when it fell due or was found",
  },
  { question: 'A deposit that became EXECUTED', answer: 'stays EXECUTED' },
] as const satisfies readonly Decision[];
