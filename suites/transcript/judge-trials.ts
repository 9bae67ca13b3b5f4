import type { TranscriptTrial } from '../../schemas/generated/types.ts';
import type { Delivery } from '../engine/courier.ts';
import type { Stage } from '../engine/events.ts';
import {
  confirmed,
  controlOf,
  judgementOf,
  summarize,
  trialOf,
  type Judgement,
  type Trial,
} from '../engine/trial.ts';
import type { Property } from '../requirement.ts';
import type { Request } from '../request.ts';
import { decodeInput } from './inputs.ts';
import { replyAt } from './recorded-doors.ts';
import type { Transcript } from './transcript.ts';

/**
 * Judges again what was tried for a requirement. What failed then and was asked once more is held
 * against both answers; what fails only by a newer requirement fails by the one answer that there is.
 */
export function judgeTrials(property: Property, transcript: Transcript): Promise<Judgement> {
  const { known, start } = transcript;
  const trials = transcript.trials.get(property.id) ?? [];
  const caseOf = ({ input }: TranscriptTrial) =>
    property.caseOf(decodeInput(input, known, transcript.unname), known);
  const judged = (line: TranscriptTrial): Trial => {
    const candidate = caseOf(line);
    const deliveries = candidate.requests.map((request, at) => deliveryAt(transcript, line, request, at));
    return trialOf(candidate, property, deliveries, line.keyWorks);
  };
  const at = (stage: Stage) =>
    trials.filter((line) => line.stage === stage).toSorted((a, b) => a.nth - b.nth);
  const drawn = at('draw').map((line) => [line.nth, judged(line), line] as const);
  const tried = drawn.map(([nth, trial]) => [nth, trial] as const);
  const failing = drawn.find(([, { verdict }]) => verdict.kind === 'failed');
  if (failing === undefined) {
    const planned = transcript.planned.get(property.id) ?? 0;
    const isCut = tried.length < planned;
    return Promise.resolve({ ...summarize(tried, start.selection.replay), ...(isCut ? { planned } : {}) });
  }
  const [index, trial, line] = failing;
  if (start.selection.replay !== undefined)
    return Promise.resolve({ ...judgementOf(trial, 1), path: start.selection.replay });
  const [second] = at('confirm');
  const [control] = at('control');
  return confirmed({
    trial,
    index,
    cases: tried.length,
    ...(caseOf(line).once || second === undefined ? {} : { again: () => Promise.resolve(judged(second)) }),
    ...(control === undefined
      ? {}
      : { control: async () => replyAt(transcript, control.replies[0], controlOf(caseOf(line), known)) }),
    shrink: () => Promise.resolve(smallestOf(at('shrink').map(judged), transcript.shrunk.get(property.id))),
  });
}

/** The last that fails as the first of them did, as shrinking goes from each to a smaller one. */
function smallestOf(trials: readonly Trial[], path: string | undefined) {
  const failures = trials.filter(({ verdict }) => verdict.kind === 'failed');
  const aspectOf = ({ verdict }: Trial) => (verdict.kind === 'failed' ? verdict.aspect : undefined);
  const trial = failures.findLast((each) => aspectOf(each) === aspectOf(failures[0]!));
  return trial === undefined || path === undefined ? undefined : { trial, path };
}

/** What came of a request, with the key that it was sent with. */
function deliveryAt(
  transcript: Transcript,
  { replies }: TranscriptTrial,
  asked: Request,
  at: number,
): Delivery {
  const reference = replies[at];
  const reply = replyAt(transcript, reference, asked);
  if (asked.credential.as !== 'caller') return { request: asked, reply };
  if (typeof reference === 'number') {
    const { credential } = transcript.exchanges[reference]?.request ?? asked;
    return { request: { ...asked, credential }, reply };
  }
  const key = transcript.known.everyKey.find(({ name }) => name === reference?.key);
  return { request: key === undefined ? asked : { ...asked, credential: { as: 'key', key } }, reply };
}
