import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAnswer, newCourse, sinceWhen } from './course.ts';

/** What a course says after these answers: `r` right, `w` wrong, one each ms. */
function since(answers: string) {
  const course = newCourse();
  for (const [at, one] of [...answers].entries())
    countAnswer(course, one === 'r', { receivedAt: at, nth: at + 1 });
  return sinceWhen(course);
}

test('a change is told only if all answers before were right, and all after are wrong, or are right again', () => {
  const right = 'r'.repeat(10);
  const told = { rightBefore: 10, lastRightAt: 9, wrongAt: 10, fromRequest: 11 };
  assert.deepEqual(since(`${right}wwwww`), told);
  assert.deepEqual(since(`${right}www${right}`), { ...told, until: { at: 12, rightAfter: 10 } });
  for (const other of [
    `${right}wwww`,
    `${right.slice(1)}wwwww`,
    `w${right}wwwww`,
    `${right}ww${right}`,
    `${right}www${right.slice(1)}`,
    `${right}wwwww${right}wwwww`,
    'wwwwww',
  ])
    assert.equal(since(other), undefined, other);
});
