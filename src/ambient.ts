/** The link to the context of a request, for modules that a browser loads too: browsers have no `AsyncLocalStorage`. */
interface Ambient {
  /** The deadline of the running work; undefined in a process without deadlines. */
  deadline: (() => AbortSignal | undefined) | undefined;
  /** Called where a client or a pool is made, whose calls end with the deadline of a request. */
  use: () => void;
  /** Whether that was before the first deadline. */
  isUsed: boolean;
}

export const ambient: Ambient = {
  deadline: undefined,
  use() {
    ambient.isUsed = true;
  },
  isUsed: false,
};
