import { endpoints } from './endpoints.ts';
import { unescaped } from './unescaped.ts';

/** A text that no output may hold, and the name that stands in its place. */
export interface Secret {
  readonly value: string;
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Id of the partner that it belongs to: where the value holds that, it is no secret. */
  readonly owner?: string | null;
}

/** One of the ways in which a secret is written, ready to be looked for. */
export interface SecretForm {
  readonly name: string;
  readonly text: string;
  /** The same, folded. */
  readonly codes: Uint8Array;
  /** Characters of it that give it away, side by side; its length: nothing less than the whole does. */
  readonly least: number;
  /** How many of the characters before each place are secret, and not of a word that everybody knows. */
  readonly secretBefore: Uint32Array;
  /** Whether it counts only as a word of its own and in its own letter case: anywhere else it is chance. */
  readonly isWord: boolean;
}

/** Shorter texts stand in every other sentence: they cannot be hidden. */
const SHORTEST = 4;

/** Fewer different characters than this, such as `00000000`, turn up in the middle of numbers. */
const LEAST_VARIED = 4;

/** From here on, a text that turns up in the middle of a word is no chance, nor is a part of so many characters. */
const LONG = 8;

/** Fewer different characters than this are no chance only where all of them stand there. */
export const VARIED = 6;

/** Characters that count as one: letters in either case, and what base64 and base64url write for the same. */
export const folded: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase().replace('-', '+').replace('_', '/');
  return character.charCodeAt(0);
});

/** What the interface itself says, and JSON; a secret that is one of these words is none. */
const interfaceWords: readonly string[] = [
  ...Object.entries(endpoints).flatMap(([name, { path, parameter, messages }]) => [
    name,
    path,
    parameter,
    ...Object.values(messages),
  ]),
  'is_under_ib',
  'date_joined',
  'amountInUsd',
  'executedAt',
  'authorization',
  'application/json',
  'true',
  'false',
  'null',
].map((word) => word.toLowerCase());

/**
 * The forms of a secret: as it is, in hexadecimal, and in base64 wherever it stands in a longer text.
 * None for what cannot be hidden: too short, or a word that the interface or the fixture says anyway.
 */
export function secretForms({ value, name, owner }: Secret): readonly SecretForm[] {
  const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
  const inLowerCase = value.toLowerCase();
  if (value.length < SHORTEST || known.some((word) => word.includes(inLowerCase))) return [];
  const variety = new Set(value).size;
  const isLong = value.length >= LONG && variety >= LEAST_VARIED;
  const part = Math.max(LONG, Math.ceil(value.length / 2));
  const formOf = (text: string, perCharacter: number, words: readonly string[] = []): SecretForm => ({
    name,
    text,
    codes: Uint8Array.from(text, (character) => folded[character.charCodeAt(0)] ?? 0),
    least: variety < VARIED ? text.length : Math.min(text.length, Math.ceil(part * perCharacter)),
    secretBefore: secretBefore(text.toLowerCase(), words),
    isWord: false,
  });
  return [
    { ...formOf(value, 1, known), isWord: !isLong },
    ...[
      // A secret that holds a %20 loses it where the escapes around it are undone.
      ...unescaped(value).map(({ text }) => formOf(text, text.length / value.length, known)),
      formOf(Buffer.from(value).toString('hex'), 2),
      ...[0, 1, 2].map((offset) => formOf(base64Core(value, offset), 4 / 3)),
    ].filter(({ text }) => text.length >= LONG),
  ];
}

function secretBefore(text: string, known: readonly string[]): Uint32Array {
  const isKnown = new Uint8Array(text.length);
  for (const word of known)
    for (let at = 0; at + word.length <= text.length; at++)
      if (text.startsWith(word, at)) isKnown.fill(1, at, at + word.length);
  const before = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at++) before[at + 1] = before[at]! + (isKnown[at] === 1 ? 0 : 1);
  return before;
}

/** The characters of base64 that a text alone decides, where `offset` bytes (modulo 3) stand before it. */
function base64Core(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const decidedElsewhere = [0, 2, 3][offset]!;
  return bytes.toString('base64').slice(decidedElsewhere, Math.floor((bytes.length * 8) / 6));
}
