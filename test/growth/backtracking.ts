/**
 * A backtracking matcher of regular expressions that counts its steps. V8 matches in code of its own and tells no count, so a
 * counted run does each match here as well: V8's answer is the one that is used, and this one has to be the same.
 */
import { parsePattern } from "./pattern.ts";
import type { Part } from "./pattern.ts";

type Instruction =
  | { readonly kind: "character"; readonly is: (point: number) => boolean }
  | { readonly kind: "split"; first: number; second: number }
  | { readonly kind: "jump"; readonly to: number }
  | { readonly kind: "assertion"; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: "look"; readonly instructions: readonly Instruction[]; readonly wanted: boolean }
  // The round of a loop whose body may match nothing counts only where it moved.
  | { readonly kind: "enter"; readonly loop: number }
  | { readonly kind: "moved"; readonly loop: number }
  | { readonly kind: "matched" };

interface Run {
  readonly steps: number;
  /** Where the match ends; -1 where there is none. */
  readonly end: number;
}

const compiled = new Map<string, readonly Instruction[]>();

/** One `exec` of a pattern, from an index of the text on. */
export function match(pattern: RegExp, text: string, from: number): Run {
  const instructions = compiled.get(String(pattern)) ?? compile(pattern);
  let steps = 0;
  for (let start = from; start <= text.length; start++) {
    const run = matchAt(instructions, text, start, pattern.unicode);
    steps += run.steps;
    if (run.end !== -1) return { steps, end: run.end };
    if (pattern.sticky) break;
  }
  return { steps, end: -1 };
}

function matchAt(instructions: readonly Instruction[], text: string, start: number, isUnicode: boolean): Run {
  let steps = 0;
  let at = start;
  let next = 0;
  let entered: readonly number[] = [];
  const untried: { readonly next: number; readonly at: number; readonly entered: readonly number[] }[] = [];
  for (;;) {
    const instruction = instructions[next++] as Instruction;
    let isRight = true;
    steps++;
    switch (instruction.kind) {
      case "matched":
        return { steps, end: at };
      case "split":
        untried.push({ next: instruction.second, at, entered });
        next = instruction.first;
        break;
      case "jump":
        next = instruction.to;
        break;
      case "assertion":
        isRight = instruction.holds(text, at);
        break;
      case "enter":
        entered = Object.assign([...entered], { [instruction.loop]: at });
        break;
      case "moved":
        isRight = entered[instruction.loop] !== at;
        break;
      case "look": {
        const run = matchAt(instruction.instructions, text, at, isUnicode);
        steps += run.steps;
        isRight = (run.end !== -1) === instruction.wanted;
        break;
      }
      case "character": {
        const point = isUnicode ? (text.codePointAt(at) ?? -1) : at < text.length ? text.charCodeAt(at) : -1;
        isRight = point !== -1 && instruction.is(point);
        at += point > 0xffff ? 2 : 1;
        break;
      }
    }
    if (isRight) continue;
    const other = untried.pop();
    if (other === undefined) return { steps, end: -1 };
    ({ next, at, entered } = other);
  }
}

function compile(pattern: RegExp): readonly Instruction[] {
  const instructions: Instruction[] = [];
  let loops = 0;
  const flags = pattern.flags.replaceAll(/[dgmy]/g, "");

  function emit(part: Part, into: Instruction[]): void {
    if (part.kind === "character") into.push({ kind: "character", is: characterTest(part.source, flags) });
    else if (part.kind === "assertion") into.push({ kind: "assertion", holds: assertionTest(part.source, pattern) });
    else if (part.kind === "sequence") for (const one of part.parts) emit(one, into);
    else if (part.kind === "choice") emitChoice(part.parts, into);
    else if (part.kind === "look") {
      const ahead: Instruction[] = [];
      emit(part.part, ahead);
      into.push({ kind: "look", instructions: [...ahead, { kind: "matched" }], wanted: part.wanted });
    } else {
      for (let i = 0; i < part.least; i++) emit(part.part, into);
      if (part.most === Infinity) emitLoop(part, into);
      else
        for (const split of Array.from({ length: part.most - part.least }, () => optional(part, into)))
          leave(split, into);
    }
  }

  function emitChoice([first, ...others]: readonly Part[], into: Instruction[]): void {
    if (others.length === 0) return emit(first as Part, into);
    const split = { kind: "split" as const, first: into.length + 1, second: 0 };
    into.push(split);
    emit(first as Part, into);
    const jump = { kind: "jump" as const, to: 0 };
    into.push(jump);
    split.second = into.length;
    emitChoice(others, into);
    jump.to = into.length;
  }

  function emitLoop({ part, lazy }: Part & { readonly kind: "repeat" }, into: Instruction[]): void {
    const start = into.length;
    const split = optional({ part: { kind: "sequence", parts: [] }, lazy }, into);
    const loop = loops++;
    if (mayBeEmpty(part)) into.push({ kind: "enter", loop });
    emit(part, into);
    if (mayBeEmpty(part)) into.push({ kind: "moved", loop });
    into.push({ kind: "jump", to: start });
    leave(split, into);
  }

  /** What may be left out: where it leads then is set by {@link leave}. */
  function optional({ part, lazy }: { readonly part: Part; readonly lazy: boolean }, into: Instruction[]) {
    const split = { kind: "split" as const, first: -1, second: -1 };
    into.push(split);
    if (lazy) split.second = into.length;
    else split.first = into.length;
    emit(part, into);
    return split;
  }

  function leave(split: { first: number; second: number }, into: readonly Instruction[]): void {
    if (split.first === -1) split.first = into.length;
    else split.second = into.length;
  }

  emit(parsePattern(pattern), instructions);
  instructions.push({ kind: "matched" });
  compiled.set(String(pattern), instructions);
  return instructions;
}

function mayBeEmpty(part: Part): boolean {
  if (part.kind === "character") return false;
  if (part.kind === "sequence") return part.parts.every(mayBeEmpty);
  if (part.kind === "choice") return part.parts.some(mayBeEmpty);
  return part.kind !== "repeat" || part.least === 0 || mayBeEmpty(part.part);
}

/** Whether a character is what stands for one in a pattern; V8 itself says so, once for each. */
function characterTest(source: string, flags: string): (point: number) => boolean {
  const one = new RegExp(`^(?:${source})$`, flags);
  const known = new Map<number, boolean>();
  return (point) => {
    let is = known.get(point);
    if (is === undefined) known.set(point, (is = one.test(String.fromCodePoint(point))));
    return is;
  };
}

function assertionTest(source: string, { multiline }: RegExp): (text: string, at: number) => boolean {
  const endsLine = (unit: string | undefined): boolean =>
    unit === undefined || (multiline && /[\n\r\u2028\u2029]/.test(unit));
  const isWord = (unit: string | undefined): boolean => unit !== undefined && /\w/.test(unit);
  if (source === "^") return (text, at) => endsLine(text[at - 1]);
  if (source === "$") return (text, at) => endsLine(text[at]);
  return (text, at) => (isWord(text[at - 1]) !== isWord(text[at])) === (source === "\\b");
}
