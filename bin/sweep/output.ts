import { stripVTControlCharacters } from 'node:util';

/** What runners write of a test by themselves, such as pytest with the arguments of a test in its name. */
const TITLE = /^\s*(?:[✔✓✖✕×▶] |(?:not )?ok \d|# Subtest: )|::\S+ (?:PASSED|FAILED|ERROR)\b/;

/** What runners write of a failure: values in an assertion, arguments of functions, and properties of an error. */
const FAILURE =
  /^\s*\w+\s+= |^E\s+(?:\+|assert|[-?]) |^\s*[-+?] |^\s+['"]|^\s+['"]?(?!error:)[\w-]+['"]?: ['"`[{]|^\s*(?:Expected|Received)\b|AssertionError| !==? /;

/** Who wrote a line: a test runner, about a test in general or about a failure, or another program. */
export const writerOf = (line: string) =>
  TITLE.test(line) ? 'title' : FAILURE.test(line) ? 'failure' : 'program';

const RED =
  /^\s*(?:✖|✕|×|not ok \d+ -|●|FAIL(?:ED)?|--- FAIL:|\d+\)|(?:FAIL|ERROR):(?= test))\s+(.+?)(?:\s+\(?\d[\d.]* ?m?s\)?)?(?: - .*)?$/;
const MAX_NAME = 100;

/** Returns the name of the test that a line of output calls red, as common test runners write it. */
export const redTestIn = (line: string): string | undefined =>
  RED.exec(stripVTControlCharacters(line))?.[1]?.slice(0, MAX_NAME);
