/** The smallest routes that rows of the API document ask for. */
import { Path, Refusal, Returns, get } from "usher-http";
import type { Route } from "usher-http";

export const plain = get(Path.of("plain"), { returns: Returns.text }, () => "");
export const root = (inputs: NonNullable<Parameters<typeof get>[1]["inputs"]>): Route =>
  get(Path.root, { inputs, returns: Returns.text }, () => "");
export const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });
