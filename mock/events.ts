import type { Due } from './due.ts';
import type { JournalEntry } from './journal.ts';

/** What happens in a mock, for whoever watches it. */
export type MockEvent =
  | { readonly kind: 'request'; readonly entry: JournalEntry }
  | { readonly kind: 'clock'; readonly world: string; readonly now: number; readonly due: Due }
  /** Something was changed on purpose; `what` says it in words. */
  | { readonly kind: 'change'; readonly world: string; readonly what: string };

export type Watcher = (event: MockEvent) => void;

/** Tells all watchers; the event is made only where there is one. */
export function tell(watchers: ReadonlySet<Watcher>, event: () => MockEvent): void {
  if (watchers.size === 0) return;
  const made = event();
  for (const watch of watchers) watch(made);
}
