/** What a thrown value tells the log: what kind it was and where it was thrown, never its message. */
export interface Raised {
  readonly kind: string;
  readonly stack: string;
}

/** A thrown value's kind and frames. A message may quote anything, so no line of it goes with them. */
export function describeRaised(thrown: unknown): Raised {
  if (!(thrown instanceof Error)) return { kind: typeof thrown, stack: "" };
  return {
    kind: textOr(() => thrown.constructor.name, "Error"),
    stack: textOr(() => frames(thrown.stack as string, String(thrown.message)), ""),
  };
}

// An application's error may be anything: its members may be missing, or raise when they are read.
function textOr(read: () => string, otherwise: string): string {
  try {
    return read();
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
