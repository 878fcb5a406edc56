/** Formats of refusals, and routes that refuse in every way. */
import * as v from "valibot";
import { Answer, Codec, Dep, Path, Query, Refusal, RefusalFormat, Returns, get, json, post, refuse } from "usher-http";
import type { Code } from "../../src/refusals.ts";
import type { Route } from "usher-http";

export const gone: Code<"gone"> = Refusal.code("gone", { status: 410, doc: "It went." });
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });

/** The format of the RealWorld API. */
export const realWorld: RefusalFormat = RefusalFormat.json({
  shape: v.object({ errors: v.object({ body: v.array(v.string()) }) }),
  statuses: { invalid: 422 },
  write: ({ message, problems }) => ({
    errors: { body: problems.length === 0 ? [message] : problems.map(({ at, message }) => `${at}: ${message}`) },
  }),
});
export const page: RefusalFormat = RefusalFormat.text({
  contentType: "text/html; charset=utf-8",
  write: ({ error, status, message, requestId }) => `<h1>${status} ${error}</h1><p>${message}</p><i>${requestId}</i>`,
});

export const item = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.number() });
export const routes: readonly Route[] = [
  get(Path.of("gone"), { returns: Returns.text, refuses: [gone] }, () => refuse(gone, "Sold.", { detail: "by night" })),
  get(Path.of("later"), { returns: Returns.text, refuses: [gone] }, async () => refuse(gone)),
  get(Path.of("thrown"), { returns: Returns.text, refuses: [gone] }, () => {
    throw refuse(gone, "Thrown.");
  }),
  get(Path.of("raised"), { returns: Returns.text }, () => {
    throw new Error("a secret");
  }),
  get(Path.of("built"), { returns: Returns.responses({ 410: "Gone." }), refuses: [gone] }, () =>
    Answer.refusal(refuse(gone, "Built.")),
  ),
  get(Path.of("unwritable"), { returns: Returns.json(v.number()) }, () => "no number" as never),
  get(
    Path.of("in"),
    {
      inputs: { x: Dep.ofRequest(async () => refuse(signedOut), { refuses: [signedOut] }) },
      returns: Returns.text,
      refuses: [signedOut],
    },
    () => "",
  ),
  get(Path.of("limit"), { inputs: { limit: Query.required("limit", Codec.int) }, returns: Returns.text }, () => ""),
  post(Path.of("orders"), { inputs: { order: json(item) }, returns: Returns.empty() }, () => undefined),
];
