/** One connection to a message engine, from when it is open until it dies or is closed. */
export interface EngineLine {
  /** Resolves once the engine has it; the messages of one line arrive in the order they were sent. */
  send(message: string): Promise<void>;
  /** Sends what it was given and ends; it may wait for the engine, and is destroyed where that takes too long. */
  close(): Promise<void>;
  /** Ends at once. */
  destroy(): void;
}

/** What a line tells while it is open. */
export interface LineListener {
  readonly heard: (message: string) => void;
  /** It is of no use any more; told once, and never of a line that was closed. */
  readonly died: (why: unknown) => void;
}

/** A message engine that carries texts from each process to all of them, its own sender too. */
export interface Engine {
  /** Whose log lines these are: `framework.redis`. */
  readonly source: string;
  /** A line that hears everything sent from then on. Rejects where there is none to be had. */
  open(listener: LineListener): Promise<EngineLine>;
  /** Calls it after that time, which alone does not keep the process running; answers what calls it off. */
  after(ms: number, act: () => void): () => void;
}
