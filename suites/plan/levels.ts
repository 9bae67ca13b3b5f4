import * as fc from 'fast-check';
import { malformations, type Malformation } from '../inputs/malformations.ts';
import { percentEncoded, withLetterCase } from '../inputs/uuids.ts';
import type { Changes } from '../request.ts';

/** What a level takes from a fixture, in words that complete "the fixture has no …", and how to add it. */
export interface Need {
  readonly words: string;
  readonly fix: string;
  readonly reason?: 'no-second-key';
}

/** A value of a factor, with everything about it but how it is drawn. */
export interface Level {
  readonly need?: Need;
  /** Levels of a group take turns when combined with other factors. Without a group, each is combined. */
  readonly group?: string;
  /** The same for combinations with other gates; `never`: it is not combined with them. */
  readonly gateGroup?: string;
  /** Whether a gate with this level may let a caller in, so that it does not mask other factors. */
  readonly mayLetIn?: true;
}

export type LevelTable<Of extends Level = Level> = Readonly<Record<string, Of>>;

/** How to add what a fixture lacks. */
export const add = (part: string, example: string) => `Add one to ${part}, such as ${example}`;

export interface MalformationLevel extends Level, Partial<Pick<Malformation, 'examples' | 'drawn'>> {}

/** What is wrong with the query. */
export const malformationLevels: LevelTable<MalformationLevel> = {
  none: {},
  ...Object.fromEntries(
    Object.entries(malformations).map(([name, { group, ...draws }]): [string, MalformationLevel] => [
      name,
      { ...draws, group, gateGroup: group === 'hostile' ? 'never' : group },
    ]),
  ),
};

export const versions = ['4', '1', '2', '3', '5', '6', '7', '8'];

/** By the version digit of the id. The order is that of `versions`. */
export const versionLevels: LevelTable = Object.fromEntries(
  versions.map((version) => [version, version === '4' ? {} : { gateGroup: 'other versions' }]),
);

const ownUser = 'with two letters in user_id';
const userExample = (partner: string) =>
  `{ "user_id": "…", "partner": "${partner}", "date_joined": "2024-02-29T23:59:59.999Z" }`;

export interface SituationLevel extends Level {
  /** Undefined: nobody has the id. */
  readonly owner?: string;
  readonly state?: 'EXECUTED' | 'pending' | 'failed';
}

const userOf = (owner: string, partner: string): SituationLevel => ({
  owner,
  need:
    owner === 'own'
      ? { words: 'user of the IB under test', fix: `${add('users', userExample(partner))}, ${ownUser}` }
      : { words: 'user outside the IB under test', fix: add('users', userExample(partner)) },
});

/** Whose user a lookup asks for. */
export const userSituations: LevelTable<SituationLevel> = {
  own: userOf('own', 'the partner of the key'),
  "another partner's": userOf("another partner's", 'another partner, or null'),
  "third partner's": userOf("third partner's", 'another partner, or null'),
  'no partner': userOf('no partner', 'another partner, or null'),
  unknown: {},
};

const depositNeed = (owner: string, state: string): Need => {
  if (owner !== 'own')
    return {
      words: 'deposit of a user outside the IB under test',
      fix: add('deposits', 'an EXECUTED deposit of a user of another partner'),
    };
  const more = state === 'EXECUTED' ? ', "amountInUsd": 250.5, "executedAt": 1705314600000' : '';
  const letter = state === 'EXECUTED' ? ', with two letters in reference_id' : '';
  return {
    words: `${state} deposit of a user under the IB`,
    fix: add(
      'deposits',
      `{ "reference_id": "…", "user_id": "…", "state": "${state}"${more} } of a user of the IB${letter}`,
    ),
  };
};

const owners = ['own', "another partner's", "third partner's"];
const states = ['EXECUTED', 'pending', 'failed'] as const;

/** Whose deposit a lookup asks for, and in which state. */
export const depositSituations: LevelTable<SituationLevel> = {
  ...Object.fromEntries(
    owners.flatMap((owner) =>
      states.map((state): [string, SituationLevel] => [
        `${owner} ${state}`,
        {
          owner,
          state,
          need: depositNeed(owner, state),
        },
      ]),
    ),
  ),
  unknown: {},
};

export interface SpellingLevel extends Level {
  /** Whether the id needs letters. */
  readonly needsLetters?: true;
  readonly spelled: (ids: fc.Arbitrary<string>) => fc.Arbitrary<string>;
}

// Shared: it is slow to create.
const anyFlags = fc.array(fc.boolean(), { minLength: 1, maxLength: 32 });

/** Some letters or characters of an id are written in another way. */
const withFlags =
  (spell: (id: string, flags: readonly boolean[]) => string): SpellingLevel['spelled'] =>
  (ids) =>
    fc.tuple(ids, anyFlags).map(([id, flags]) => spell(id, flags));

/** How the id is written. */
export const spellingLevels: LevelTable<SpellingLevel> = {
  'lower case': { spelled: (ids) => ids },
  'upper case': { needsLetters: true, spelled: (ids) => ids.map((id) => id.toUpperCase()) },
  'mixed case': {
    needsLetters: true,
    spelled: withFlags((id, flags) => {
      const text = withLetterCase(id, flags);
      return [id.toLowerCase(), id.toUpperCase()].includes(text) ? withLetterCase(id, [true, false]) : text;
    }),
  },
  'percent-encoded': {
    spelled: withFlags((id, flags) => percentEncoded(id, flags.includes(true) ? flags : [true])),
  },
};

/** Which parameters the query has besides the id, and how the name of the parameter is written. */
export const queryLevels: LevelTable = {
  alone: {},
  'extra parameter before': {},
  'extra parameter after': {},
  'name percent-encoded': {},
};

export interface FieldsLevel extends Level {
  readonly changes: Pick<Changes, 'headers' | 'fieldNames' | 'cookies'>;
}

/** Fields of a level: in pairs, they take turns. */
const fields = (headers: Readonly<Record<string, string>>): FieldsLevel => ({
  group: 'others',
  changes: { headers },
});

const fromHere = '127.0.0.1';

/** A server may take any of these for an error message. */
const languages =
  'de-DE,de,es,zh-CN,zh,ja,ko,ru,ar,pt-BR,pt,it,tr,vi,th,id,ms,hi,bn,ta,ur,pl,uk,be,fa,he,el,hu,ro,bg,sr,hr,sk,fi,da,nb,lt,nl,sv,cs,fr,en;q=0.1';

/**
 * Header fields that must not change the answer, which is JSON (Results; Errors). A server may
 * answer 406 if JSON is not accepted (RFC 9110 12.5.1), so each of these accepts it.
 */
export const fieldsLevels: LevelTable<FieldsLevel> = {
  'as usual': { changes: {} },
  'Accept: application/json': fields({ accept: 'application/json' }),
  'Accept: */*': fields({ accept: '*/*' }),
  'Accept: application/json and text/html': fields({ accept: 'application/json, text/html;q=0.9' }),
  // Each message may be translated.
  'Accept-Language: many languages': { changes: { headers: { 'accept-language': languages } } },
  // A server may look at the first one only.
  'Accept-Language: zh-CN': { changes: { headers: { 'accept-language': 'zh-CN,zh;q=0.9' } } },
  // Most clients send it. A cache may have other rules for compressed answers.
  'Accept-Encoding: gzip': { changes: { headers: { 'accept-encoding': 'gzip, deflate, br' } } },
  // A session may let in what a key would not.
  'Cookie: as the target set it': { changes: { cookies: 'of ours' } },
  'Content-Type: application/json': fields({ 'content-type': 'application/json' }),
  'those of a browser': fields({
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-language': 'fr-FR,fr;q=0.8,en;q=0.5',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'sec-fetch-mode': 'navigate',
    'upgrade-insecure-requests': '1',
  }),
  'X-Forwarded-For: 127.0.0.1': fields({
    'x-forwarded-for': fromHere,
    forwarded: `for=${fromHere}`,
    'x-real-ip': fromHere,
  }),
  'Cache-Control: no-cache': fields({ 'cache-control': 'no-cache', pragma: 'no-cache' }),
  'names capitalized': { group: 'others', changes: { fieldNames: 'capitalized' } },
  'names in upper case': { group: 'others', changes: { fieldNames: 'upper case' } },
};
