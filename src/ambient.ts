/** What the context of a request lends to modules that a browser loads, too: it needs `AsyncLocalStorage`, which browsers lack. */
interface Ambient {
  /** The deadline of the running work; undefined in a process without deadlines. */
  deadline: (() => AbortSignal | undefined) | undefined;
  /** Called where something is made whose calls end with the deadline of a request. */
  heed: () => void;
  /** Whether something was made before any deadline. */
  isHeeded: boolean;
}

export const ambient: Ambient = {
  deadline: undefined,
  heed() {
    ambient.isHeeded = true;
  },
  isHeeded: false,
};
