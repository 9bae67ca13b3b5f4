/** How answers of a row came. Times are in ms of the clock. */
export interface Course {
  right: number;
  wrong: number;
  isWrong: boolean;
  /** How often a wrong answer followed a right one, and what is known of the first time. */
  changes: number;
  rightBefore: number;
  lastRightAt: number;
  wrongAt: number;
  fromRequest: number;
  lastWrongAt: number;
}

/** A time in which all answers were wrong, while those before and after were right. Times are in ms of the clock. */
export interface Since {
  readonly rightBefore: number;
  readonly lastRightAt: number;
  readonly wrongAt: number;
  /** Number of requests of the run up to the first wrong answer. */
  readonly fromRequest: number;
  /** When the last wrong answer came, and how many right ones after it; undefined if none came. */
  readonly until?: { readonly at: number; readonly rightAfter: number };
}

/** So many right answers before and after, and so many wrong ones to the end or between them, show a change. */
const [RIGHT, TO_THE_END, BETWEEN] = [10, 5, 3];

export const newCourse = (): Course => ({
  right: 0,
  wrong: 0,
  isWrong: false,
  changes: 0,
  rightBefore: 0,
  lastRightAt: 0,
  wrongAt: 0,
  fromRequest: 0,
  lastWrongAt: 0,
});

/** @param at when it came, in ms of the clock, and the number of requests of the run up to it */
export function countAnswer(
  course: Course,
  isRight: boolean,
  at: { readonly receivedAt: number; readonly nth?: number },
): void {
  if (isRight) {
    course.right++;
    if (course.wrong === 0) course.lastRightAt = at.receivedAt;
  } else {
    course.wrong++;
    course.lastWrongAt = at.receivedAt;
    if (!course.isWrong && course.changes++ === 0) {
      course.rightBefore = course.right;
      course.wrongAt = at.receivedAt;
      course.fromRequest = at.nth ?? 0;
    }
  }
  course.isWrong = !isRight;
}

/** From when to when all answers were wrong; undefined if there was no such time, or more than one. */
export function sinceWhen(course: Course): Since | undefined {
  const { right, wrong, isWrong, changes, rightBefore, lastRightAt, wrongAt, fromRequest, lastWrongAt } =
    course;
  if (changes !== 1 || rightBefore < RIGHT) return undefined;
  const since = { rightBefore, lastRightAt, wrongAt, fromRequest };
  const rightAfter = right - rightBefore;
  if (isWrong) return wrong < TO_THE_END ? undefined : since;
  return rightAfter < RIGHT || wrong < BETWEEN
    ? undefined
    : { ...since, until: { at: lastWrongAt, rightAfter } };
}
