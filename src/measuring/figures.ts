/** What the process's apps do at this moment. */
export const figures: {
  /** Requests with no answer yet. */
  requests: number;
  /** Bytes of bodies that are held. */
  bodyBytes: number;
} = { requests: 0, bodyBytes: 0 };

/** Connections of a pool, and who waits for one. */
export interface PoolFigures {
  readonly idle: number;
  readonly used: number;
  readonly pending: number;
}

type Read = () => PoolFigures;
// A collector goes on telling what it was told last: a name whose pools are closed has none, and is not forgotten.
const pools = /* @__PURE__ */ new Map<string, Set<Read>>();

/**
 * Has a pool's figures read whenever somebody collects them.
 *
 * @param name Of the pool, as `postgres`; those of one name are counted together.
 * @returns what ends that, for when the pool is closed.
 */
export function measurePool(name: string, read: Read): () => void {
  const named = pools.get(name) ?? new Set();
  pools.set(name, named.add(read));
  return () => {
    named.delete(read);
  };
}

/** The pools' figures now, by their names. */
export function poolFigures(): readonly (readonly [name: string, PoolFigures])[] {
  return [...pools].map(([name, reads]) => {
    const all = [...reads].map((read) => read());
    const sum = (of: keyof PoolFigures) => all.reduce((total, figures) => total + figures[of], 0);
    return [name, { idle: sum("idle"), used: sum("used"), pending: sum("pending") }];
  });
}

let knowsConnections = false;
const listeners = /* @__PURE__ */ new Set<() => number>();

/**
 * Has a listener's open connections counted whenever somebody collects them. One that cannot know them has none counted.
 *
 * @returns what ends that, for when the listener has stopped.
 */
export function measureConnections(read: () => number): () => void {
  knowsConnections = true;
  listeners.add(read);
  return () => {
    listeners.delete(read);
  };
}

/** Connections that are open now; undefined where no listener ever knew. */
export function openConnections(): number | undefined {
  return knowsConnections ? [...listeners].reduce((total, read) => total + read(), 0) : undefined;
}
