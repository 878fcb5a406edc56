/** Cases that differ for one reason: by name, the observed result, in the words of the failure. */
export interface Deviation {
  /** A sentence. */
  readonly why: string;
  readonly cases: { readonly [name: string]: string };
  /** The runtime's behavior varies: a case of these may also pass. */
  readonly sometimes?: true;
}

/**
 * Cases that a runtime cannot pass: the runtime's own limits, each with the observed result. A
 * test fails if one of these passes after all, or fails in another way.
 */
export interface Deviations {
  readonly cases: readonly Deviation[];
  /** Headers that the runtime itself writes, each with the reason. Each must occur. */
  readonly writes?: { readonly [name: string]: string };
  /** Headers that no application can write there. */
  readonly lacks?: { readonly [name: string]: string };
}
