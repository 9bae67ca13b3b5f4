import type { JournalEntry, PartName } from './answers.ts';
import { everything } from './actions.ts';
import type { StreamEvent } from './event-stream.ts';
import { addToJournal, beginAnew, model } from './model.ts';

/** What an event makes old: parts to draw again, and parts to load again first. */
export interface Outdated {
  readonly draw: readonly PartName[];
  readonly load: readonly PartName[];
}

/** Takes an event of any world into the model. */
export function takeEvent({ kind, data }: StreamEvent): Outdated {
  const event = JSON.parse(data) as { readonly world: string; readonly what?: string };
  if (kind === 'change') return takeChange(event.world, event.what);
  if (event.world !== model.world) return { draw: [], load: isKnown(event.world) ? [] : ['worlds'] };
  if (kind === 'clock') return { draw: [], load: ['clock', 'deposits', 'keys', 'limits'] };
  const entry = event as JournalEntry;
  addToJournal([entry]);
  return {
    draw: ['requests'],
    load: [...(isKnown(event.world) ? [] : (['worlds'] as const)), ...changedBy(entry)],
  };
}

const isKnown = (world: string) => world === '' || model.answers.worlds?.worlds.includes(world) === true;

function takeChange(world: string, what: string | undefined): Outdated {
  // A reset of the main world may be one of all worlds.
  const isHere = world === model.world || (what === 'reset' && world === '');
  if (!isHere) return { draw: [], load: ['worlds'] };
  if (what !== 'reset' && what !== 'journal cleared')
    return { draw: [], load: ['deposits', 'keys', 'users', 'limits'] };
  beginAnew();
  return { draw: ['requests'], load: everything };
}

/** A request fills a limiter; one for a pending deposit brings it nearer to its end, and may move the clock. */
function changedBy({ endpoint, target }: JournalEntry): readonly PartName[] {
  const pending = model.answers.deposits?.deposits.filter(({ state }) => state === 'pending') ?? [];
  const isPoll =
    endpoint === 'deposit-check' &&
    pending.some(({ reference_id: id }) => target.toLowerCase().includes(id.toLowerCase()));
  if (!isPoll) return ['limits'];
  return model.answers.clock?.mode === 'poll'
    ? ['limits', 'deposits', 'keys', 'clock']
    : ['limits', 'deposits'];
}
