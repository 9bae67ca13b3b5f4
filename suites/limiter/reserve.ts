import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Requirement } from '../requirement.ts';
import { statedRule, WINDOWS_OF_EXPLORATION } from './rule.ts';

/** Requests that the rate-limit suite sends for each that an endpoint lets through: on user-status it tries three kinds, and members. */
const BURSTS: Readonly<Record<Endpoint, number>> = { 'user-status': 6, 'deposit-check': 3 };

/** What a limiter is taken to let through where nobody states it. */
const MOST_WHERE_UNSTATED = 50;

/** What is kept back of --max-requests for the limiters, which come last: never more than half. */
export const keptBack = (needed: number, bound: number) => Math.min(needed, bound / 2);

/** Part of a run that is kept for a limiter whose windows would take more than half of it: it is only made to set in. */
const LEAST_PART = 1 / 20;

/**
 * Time (ms) that is kept back for the rate-limit suite at the end of a run, by the limits that are stated or
 * were learned, and at so many requests a second; 0 where it is not asked for. Never more than half of the run.
 */
export function limiterMs(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>> = {},
  rate?: number,
): number {
  const compared = windowsOf(requirements, known, maxDurationMs, learned);
  const sum = compared.reduce((ms, { neededMs, fits }) => (fits ? ms + neededMs : ms), 0);
  const least = compared.every(({ fits }) => fits) ? 0 : LEAST_PART * maxDurationMs;
  return Math.min(maxDurationMs / 2, Math.max(sum + least, msAt(rate, limiterRequests(requirements, known))));
}

/** What it takes to drive each limiter from rest, one endpoint after the other, and whether half of a run suffices. */
export function windowsOf(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>>,
) {
  let sum = 0;
  return limitersOf(requirements).map((endpoint) => {
    const windowMs = (statedRule(endpoint, known) ?? learned[endpoint])?.windowMs ?? 0;
    const neededMs = WINDOWS_OF_EXPLORATION * windowMs;
    const fits = sum + neededMs <= maxDurationMs / 2;
    if (fits) sum += neededMs;
    return { endpoint, neededMs, fits };
  });
}

/** Requests that the rate-limit suite needs at the end of a run. */
export function limiterRequests(requirements: readonly Requirement[], known: Known): number {
  return limitersOf(requirements).reduce(
    (sum, endpoint) => sum + BURSTS[endpoint] * (statedRule(endpoint, known)?.most ?? MOST_WHERE_UNSTATED),
    0,
  );
}

/** Endpoints whose limiter is asked about. */
const limitersOf = (requirements: readonly Requirement[]) =>
  endpointNames.filter((endpoint) =>
    requirements.some(({ id, kind }) => kind === 'scenario' && id.startsWith(`rate-limit/${endpoint}/`)),
  );

/** What so many requests take at so many a second, in ms. */
export const msAt = (rate: number | undefined, requests: number) =>
  rate === undefined ? 0 : (requests / rate) * 1000;
