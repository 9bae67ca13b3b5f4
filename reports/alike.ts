import type { Failed, Inconclusive } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';

/** Findings that look alike: some to be shown whole, and the rest of them. */
export interface Alike<Finding> {
  readonly shown: readonly [Finding, ...Finding[]];
  readonly rest: readonly Finding[];
}

/** So many of a kind are shown; one more than that is shown rather than counted. */
const SHOWN = 3;

/**
 * Puts findings together that look alike, in the order of the first of each kind: a server that
 * answers everything with 500 fails in one way, not in forty.
 */
export function alike<Finding extends Failed | Inconclusive>(
  findings: readonly Finding[],
): readonly Alike<Finding>[] {
  const kinds = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const look = lookOf(finding);
    const kind = kinds.get(look);
    if (kind === undefined) kinds.set(look, [finding]);
    else kind.push(finding);
  }
  return [...kinds.values()].map(([first, ...others]) => {
    const cut = others.length > SHOWN ? SHOWN - 1 : SHOWN;
    return { shown: [first, ...others.slice(0, cut)], rest: others.slice(cut) };
  });
}

/** How a finding looks: what differs, or why it tells nothing, and what came back, whatever ids and numbers it holds. */
function lookOf(finding: Failed | Inconclusive): string {
  const { outcome, level, counterexample } = finding;
  const isKnown = isKnownFailure(finding);
  const response = counterexample?.response;
  const type = Object.entries(response?.headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1];
  const came =
    response === undefined ? counterexample?.trouble : [response.status, type, plain(response.body)];
  return JSON.stringify(
    outcome === 'failed'
      ? [level === 'required', isKnown, finding.aspect, came ?? plain(finding.actual)]
      : [level === 'required', finding.reason, plain(finding.words), came],
  );
}

/** Ids, dates and numbers differ from request to request, and tell nothing of what is wrong. */
const plain = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, '#');
