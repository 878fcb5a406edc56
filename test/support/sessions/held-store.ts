/** A store of sessions that makes each call when the test says so, or has it fail. */
import type { SessionEntry, SessionStore } from "usher-http";
import { turn } from "../memory.ts";
import type { Call } from "./model.ts";

/** A call that waits. */
export interface HeldCall {
  readonly call: Call;
  /** Which of the two things that its request does at once. */
  readonly deed: number;
  /** Calls the store, and gives its caller the result. */
  go(): Promise<unknown>;
  /** Has it fail; `isMade` where it was made before, and only its answer was lost. */
  fail(isMade: boolean): Promise<void>;
}

/** Digests that are being made: until they are there, a request may be about to call its store. */
let digesting = 0;

const { subtle } = crypto;
const digest = subtle.digest.bind(subtle);
subtle.digest = async (...given: Parameters<typeof digest>) => {
  digesting++;
  try {
    return await digest(...given);
  } finally {
    digesting--;
  }
};

/** Waits until whatever runs waits for a call of its store, or has ended: all else that it may wait for is counted here. */
export async function quiet(): Promise<void> {
  // One more turn: code that waits for a digest may continue in the turn after it is available.
  for (let turns = 0; turns < 2; turns = digesting > 0 ? 0 : turns + 1) await turn();
}

/** A store over another. */
export class HeldStore implements SessionStore {
  readonly #inner: SessionStore;
  readonly #asking: () => { readonly held: HeldCall[]; readonly deed: number };

  /** @param asking Who calls just now, and where the call waits. */
  constructor(inner: SessionStore, asking: () => { readonly held: HeldCall[]; readonly deed: number }) {
    this.#inner = inner;
    this.#asking = asking;
  }

  find(digest: string): Promise<SessionEntry | undefined> {
    return this.#hold({ call: "find", digest }, () => this.#inner.find(digest));
  }

  save(...[digest, entry, change]: Parameters<SessionStore["save"]>): Promise<void> {
    return this.#hold({ call: change, digest, entry }, () => this.#inner.save(digest, entry, change));
  }

  replace(digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    return this.#hold({ call: "replace", digest, next, entry }, () => this.#inner.replace(digest, next, entry));
  }

  delete(digest: string): Promise<void> {
    return this.#hold({ call: "delete", digest }, () => this.#inner.delete(digest));
  }

  sweep(now: Date): Promise<number> {
    return this.#inner.sweep(now);
  }

  #hold<A>(call: Call, make: () => Promise<A>): Promise<A> {
    const { held: all, deed } = this.#asking();
    return new Promise((resolve, reject) => {
      const release = (): void => void all.splice(all.indexOf(held), 1);
      const held: HeldCall = {
        call,
        deed,
        go: async () => {
          release();
          const made = await make();
          resolve(made);
          return made;
        },
        fail: async (isMade) => {
          release();
          if (isMade) await make();
          reject(new Error("away"));
        },
      };
      all.push(held);
    });
  }
}
