/** Cases that go another way for one reason: by name, what is seen instead, in the words of the failure. */
export interface Deviation {
  /** A sentence. */
  readonly why: string;
  readonly cases: { readonly [name: string]: string };
  /** The runtime does now one and now the other: a case of these may go right, too. */
  readonly sometimes?: true;
}

/**
 * Where a runtime cannot do what a case asks of every one: the runtime's own limits, each with what it does instead. A
 * test fails where one of these goes right after all, or wrong in another way.
 */
export interface Deviations {
  readonly cases: readonly Deviation[];
  /** Headers that it writes of its own accord, each with the reason, and each to be seen. */
  readonly writes?: { readonly [name: string]: string };
  /** Headers that it lets nobody write, likewise. */
  readonly lacks?: { readonly [name: string]: string };
}
