import { closest, distance } from 'fastest-levenshtein';

/** `; did you mean "valid"?` where one of the choices is near enough, else nothing. */
export function didYouMean(text: string, choices: readonly string[]): string {
  if (choices.length === 0) return '';
  const nearest = closest(text, [...choices]);
  return distance(text, nearest) <= Math.max(2, nearest.length / 3) ? `; did you mean ${nearest}?` : '';
}
