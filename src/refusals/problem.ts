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
