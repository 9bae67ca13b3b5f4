import type { Known } from './known.ts';
import type { Rule, Subject } from './requirement.ts';
import { noFixture, noSecondKey } from './verdict.ts';

/** How a rule is written down. */
export interface RuleSpec extends Subject {
  /** What the fixture would have to hold for it, in words; undefined where it holds enough. */
  readonly lacks?: (known: Known) => string | undefined;
  /** Whether it takes an active key of another partner. */
  readonly needsSecondKey?: boolean;
  readonly holds?: Rule['holds'];
}

/** Makes a requirement that every answer to a lookup is held against. */
export function rule({ lacks, needsSecondKey, holds, ...subject }: RuleSpec): Rule {
  return {
    ...subject,
    kind: 'rule',
    lacks: (known) => {
      if (known.callerKeys.length === 0) return noFixture('active key of a partner');
      if (needsSecondKey === true && known.otherKeys.length === 0) return noSecondKey;
      const missing = lacks?.(known);
      return missing === undefined ? undefined : noFixture(missing);
    },
    ...(holds === undefined ? {} : { holds }),
  };
}

/** At most so many items, evenly spaced over the list. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
