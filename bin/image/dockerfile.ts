import { readFileSync } from 'node:fs';
import {
  DockerfileParser,
  From,
  JSONInstruction,
  ModifiableInstruction,
  type Instruction,
} from 'dockerfile-ast';
import { root } from '../dev/paths.ts';

/** An instruction of a Dockerfile, its flags apart from its words. */
export interface Step {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  /** As it is written, without flags, on one line. */
  readonly text: string;
  /** Where it is written as JSON: its strings. */
  readonly json: readonly string[] | undefined;
  /** Line of the file, from 1. */
  readonly line: number;
}

/** A part of a Dockerfile that begins with FROM. */
export interface Stage {
  /** The image it begins with: variables are put in, where the file gives them a value. */
  readonly from: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

/** The Dockerfile of this project, as text. */
export const dockerfile: string = readFileSync(`${root}Dockerfile`, 'utf8');

/** The stages of a Dockerfile, the one that becomes the image last. */
export function stagesOf(text: string): readonly Stage[] {
  const stages: (Stage & { readonly steps: Step[] })[] = [];
  const defaults: Record<string, string> = {};
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction instanceof From)
      stages.push({
        from: (instruction.getImage() ?? '').replaceAll(
          /\$\{(\w+)\}/g,
          (whole, name) => defaults[name] ?? whole,
        ),
        name: instruction.getBuildStage() ?? undefined,
        steps: [],
      });
    else if (stages.length === 0) {
      const [name = '', value = ''] = (instruction.getArgumentsContent() ?? '').split('=');
      defaults[name] = value;
    } else stages.at(-1)!.steps.push(stepOf(instruction));
  }
  return stages;
}

/** All steps of one kind, in their order. */
export function stepsOf({ steps }: Stage, keyword: string): readonly Step[] {
  return steps.filter((step) => step.keyword === keyword);
}

/** What an engine keeps beside the files of an image. */
export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
  readonly user: string;
  readonly folder: string;
  readonly stopSignal: NodeJS.Signals;
}

/**
 * How an image is run.
 *
 * @throws Error where the stage leaves one of it to its base image
 */
export function configOf(stage: Stage): ImageConfig {
  const last = (keyword: string) => {
    const step = stepsOf(stage, keyword).at(-1);
    if (step === undefined) throw new Error(`the Dockerfile has no ${keyword}`);
    return step;
  };
  const argv = (keyword: string) => {
    const { json, line } = last(keyword);
    if (json === undefined) throw new Error(`Dockerfile:${line}: ${keyword} is not written as JSON`);
    return json;
  };
  return {
    entrypoint: argv('ENTRYPOINT'),
    command: argv('CMD'),
    health: argv('HEALTHCHECK'),
    user: last('USER').text,
    folder: last('WORKDIR').text,
    stopSignal: last('STOPSIGNAL').text as NodeJS.Signals,
  };
}

function stepOf(instruction: Instruction): Step {
  const written = instruction.getArgumentsContent() ?? '';
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
  return {
    keyword: instruction.getKeyword(),
    flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
    text: written,
    json: instruction instanceof JSONInstruction ? jsonOf(instruction) : jsonIn(written),
    line: instruction.getInstructionRange().start.line + 1,
  };
}

function jsonOf(instruction: JSONInstruction): readonly string[] | undefined {
  if (instruction.getClosingBracket() === null) return undefined;
  return instruction.getJSONStrings().map((one) => one.getJSONValue());
}

/** HEALTHCHECK has its command behind `CMD`. */
function jsonIn(written: string): readonly string[] | undefined {
  const [, list] = /\bCMD\s+(\[.*\])\s*$/s.exec(written) ?? [];
  return list === undefined ? undefined : (JSON.parse(list) as readonly string[]);
}
