/** How answers of a row came. Times are in ms of the clock. */
export interface Course {
  right: number;
  wrong: number;
  /** Wrong ones after the last right one, and when the first of them came. */
  wrongInARow: number;
  wrongAt: number;
  lastRightAt: number;
}

/** A change from right to wrong, with the number of right answers before. Times are in ms of the clock. */
export interface Since {
  readonly rightBefore: number;
  readonly lastRightAt: number;
  readonly wrongAt: number;
}

/** So many right answers before, and so many wrong ones after, show that something changed. */
const [RIGHT_BEFORE, WRONG_AFTER] = [10, 5];

export const newCourse = (): Course => ({ right: 0, wrong: 0, wrongInARow: 0, wrongAt: 0, lastRightAt: 0 });

export function countAnswer(course: Course, isRight: boolean, at: number): void {
  if (isRight) course.right++;
  else course.wrong++;
  course.wrongInARow = isRight ? 0 : course.wrongInARow + 1;
  if (isRight) course.lastRightAt = at;
  else if (course.wrongInARow === 1) course.wrongAt = at;
}

/** Since when all answers are wrong; undefined if they were not all right before. */
export function sinceWhen({ right, wrong, wrongInARow, lastRightAt, wrongAt }: Course): Since | undefined {
  const isChange = right >= RIGHT_BEFORE && wrong >= WRONG_AFTER && wrong === wrongInARow;
  return isChange ? { rightBefore: right, lastRightAt, wrongAt } : undefined;
}
