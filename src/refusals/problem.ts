/** One input that is not what it should be: where it stands, what kind of wrong it is, and a sentence for the caller. */
export class Problem {
  /** `path.<name>`, `query.<name>`, `header.<name>`, `cookie.<name>`, `form.<name>`, or a place in the body. */
  readonly at: string;
  /** `malformed`, `required`, a bound's own code, or the word the author of a check gave. */
  readonly code: string;
  /** Sent to the client as it is, so it never quotes the value. */
  readonly message: string;

  constructor(at: string, code: string, message: string) {
    this.at = at;
    this.code = code;
    this.message = message;
  }
}

/** So many problems are told of one request where nothing else is said. */
export const mostListed = 1000;
/** So many of them go into a line of the log, and so many characters of each one's place: a member's name is as long as a body. */
const mostInLine = 100;
const longestPlace = 100;

/** Problems as one text for the log, which ends however many there are, and however long their places are. */
export function inOneLine(
  problems: readonly Problem[],
  more = 0,
  tell = ({ code, message }: Problem, at: string): string => `${at}: ${message} (${code})`,
): string {
  const told = problems.slice(0, mostInLine).map((problem) => {
    const { at } = problem;
    return tell(problem, at.length > longestPlace ? `${at.slice(0, longestPlace)}…` : at);
  });
  const untold = problems.length - told.length + more;
  return untold === 0 ? told.join("; ") : `${told.join("; ")}; and ${untold} more`;
}
