import { byId } from './element.ts';

/**
 * Says what came of something that was done, to the eye and to screen readers. What others do is not
 * said: the journal would never be quiet.
 */
export function say(words: string): void {
  byId('said').textContent = words;
}
