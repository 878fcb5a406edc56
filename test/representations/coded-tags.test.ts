/** Conditions of a change that name a version as its client got it, compressed: `Compress` gives its tag an end for each coding. */
import { expect, it } from "vitest";
import { Path, Returns, Test, patch } from "usher-http";
import { Conditional } from "usher-http/conditional";

const change = patch(
  Path.root,
  {
    inputs: { precondition: Conditional.precondition },
    returns: Returns.text,
    refuses: [Conditional.preconditionFailed],
  },
  ({ precondition }) => precondition({ etag: "v1" }) ?? "changed",
);

it.each([
  [{ "if-match": '"v1-gzip"' }, 200],
  [{ "if-match": '"v0-gzip"' }, 412],
  [{ "if-none-match": '"v1-gzip"' }, 412],
  [{ "if-none-match": 'W/"v1-br"' }, 412],
  [{ "if-none-match": '"v0-zstd", "v1-zstd"' }, 412],
  [{ "if-none-match": '"v0-gzip"' }, 200],
  [{ "if-none-match": '"v1-deflated"' }, 200],
])("%j is %i", async (headers, status) => {
  expect((await Test.call(Test.app([change]), "PATCH", "/", { headers })).status).toBe(status);
});
