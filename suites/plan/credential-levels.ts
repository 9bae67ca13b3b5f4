import type * as fc from 'fast-check';
import {
  forms,
  nearMiss,
  nearMisses,
  tokenOf,
  unissuedKeys,
  unknownToken,
  type Form,
  type Token,
} from '../inputs/credentials.ts';
import type { Known, KnownKey } from '../known.ts';
import { add, type Level, type LevelTable, type Need } from './levels.ts';

const keyNeed = (words: string, partner: string, state: string, reason?: Need['reason']) => ({
  need: {
    words,
    fix: add('apiKeys', `{ "key": "…", "partner": ${partner}, "state": "${state}" }`),
    ...(reason !== undefined && { reason }),
  },
});

export interface KeyLevel extends Level {
  readonly tokens: (known: Known) => readonly Token[];
  /** Further tokens, drawn at random. */
  readonly drawn?: (known: Known) => fc.Arbitrary<Token>;
}

const issued = (keysOf: (known: Known) => readonly KnownKey[]) => ({
  tokens: (known: Known) => keysOf(known).map(tokenOf),
});

/** Whose key a lookup has. */
export const keyLevels: LevelTable<KeyLevel> = {
  active: {
    ...issued(({ callerKeys }) => callerKeys.slice(0, 1)),
    ...keyNeed('active key of a partner', '"…"', 'active'),
  },
  "another partner's": {
    ...issued(({ otherKeys }) => otherKeys),
    ...keyNeed('active key of another partner', '"another partner"', 'active', 'no-second-key'),
    mayLetIn: true,
  },
  revoked: {
    ...issued(({ revokedKeys }) => revokedKeys),
    ...keyNeed('revoked key', '"…"', 'revoked'),
  },
  expired: {
    ...issued(({ expiredKeys }) => expiredKeys),
    ...keyNeed('expired key', '"…"', 'expired'),
  },
  'non-Partner': {
    ...issued(({ nonPartnerKeys }) => nonPartnerKeys),
    ...keyNeed('key of a non-Partner account (partner null)', 'null', 'active'),
  },
  unknown: { tokens: unissuedKeys, drawn: unknownToken },
  'near miss': { tokens: nearMisses, drawn: nearMiss },
  none: { tokens: () => [] },
};

export interface HeaderLevel extends Level {
  readonly forms: readonly Form[];
  /** Whether the token must be an issued key: the form splits it, or only whole keys are redacted there. */
  readonly needsIssued?: true;
  /** Whether the client opens another connection after it, as after a GET with a body: random rows do without it. */
  readonly endsConnection?: true;
}

const open = { mayLetIn: true } as const;
const noBearer = { gateGroup: 'no Bearer token' };
const elsewhere = { gateGroup: 'elsewhere', needsIssued: true } as const;

/** How the key is presented. */
export const headerLevels: LevelTable<HeaderLevel> = {
  Bearer: { forms: forms.Bearer },
  bearer: { forms: forms.bearer, ...open },
  BEARER: { forms: forms.BEARER, ...open },
  'extra spaces': { forms: forms['extra spaces'], ...open },
  'no scheme': { forms: forms['no scheme'], ...noBearer },
  'another scheme': { forms: forms['another scheme'], ...noBearer },
  'two parts': { forms: forms['two parts'], ...noBearer, needsIssued: true },
  'no token': { forms: forms['no token'], ...noBearer },
  'in the query': { forms: forms['in the query'], ...elsewhere },
  'in a cookie': { forms: forms['in a cookie'], ...elsewhere },
  'in another header': { forms: forms['in another header'], ...elsewhere },
  'in the body': { forms: forms['in the body'], ...elsewhere, endsConnection: true },
};
