/** What a thrown value tells the log: what kind it was and where it was thrown, never its message. */
export interface Raised {
  readonly kind: string;
  readonly stack: string;
}

/**
 * Whether a thrown value is of a class. Anything may be thrown, a `Proxy` too, which throws where it is asked for its prototype.
 */
export function isA<A>(kind: abstract new (...args: never) => A, thrown: unknown): thrown is A {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** A thrown value's kind and frames. A message may quote anything, so no line of it goes with them. */
export function describeRaised(thrown: unknown): Raised {
  if (!isError(thrown)) return { kind: typeof thrown, stack: "" };
  return {
    kind: textOr(() => thrown.constructor.name, "Error"),
    stack: textOr(() => frames(thrown.stack as string, String(thrown.message)), ""),
  };
}

// One of another realm (`vm`, Jest) too, whose class is not this one's.
function isError(thrown: unknown): thrown is Error {
  return isA(Error, thrown) || textOr(() => Object.prototype.toString.call(thrown), "") === "[object Error]";
}

// An application's error may be anything: its members may be missing, or raise when they are read.
function textOr(read: () => unknown, otherwise: string): string {
  try {
    const text = read();
    return typeof text === "string" ? text : otherwise;
  } catch {
    return otherwise;
  }
}

function frames(stack: string, message: string): string {
  const ofMessage = new Set(message.split("\n").map((line) => line.trim()));
  const isFrame = (line: string): boolean => /^\s+at .*(?::\d+:\d+\)?|<anonymous>\)?|native\)?)$/.test(line);
  return stack
    .split("\n")
    .filter((line) => isFrame(line) && !ofMessage.has(line.trim()))
    .map((line) => line.trim())
    .join("\n");
}
