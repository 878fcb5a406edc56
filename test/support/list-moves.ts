/** How many items the language moves in lists for `shift` and `slice`: V8 moves all that a long list has. */
export interface Moves {
  /** All items that were moved. */
  moved: number;
  /** The most that one call moved. */
  most: number;
}

/** The moves while it runs; nothing else may run at the same time. */
export async function movesOf(run: () => unknown): Promise<Moves> {
  const moves: Moves = { moved: 0, most: 0 };
  const count = (items: number): void => {
    moves.moved += items;
    moves.most = Math.max(moves.most, items);
  };
  const list = Array.prototype;
  const { shift, slice } = list;
  const replace = (members: Pick<unknown[], "shift" | "slice">): void => {
    for (const [name, value] of Object.entries(members))
      Object.defineProperty(list, name, { value, configurable: true, writable: true });
  };
  replace({
    shift(this: unknown[]) {
      count(this.length);
      return shift.call(this);
    },
    slice(this: unknown[], from = 0, to?: number) {
      count(this.length - from);
      return slice.call(this, from, to);
    },
  });
  try {
    await run();
  } finally {
    replace({ shift, slice });
  }
  return moves;
}
