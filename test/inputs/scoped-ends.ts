/** How each request of `scoped-routes.ts` ends: its answer, its events, and its warnings. */
export const ends: { readonly [path: string]: readonly unknown[] } = {
  answered: ["x", ["inner: answered 200", "outer: answered 200"], []],
  refused: ["sold_out", ["outer: refused 409"], []],
  raised: ["internal", ["outer: failed 500"], ["GET /raised: internal: it raised"]],
  half: ["internal", ["outer: failed 500"], ["GET /half: internal: it raised"]],
  "release-raises": [
    "x",
    ["bad: answered 200", "outer: answered 200"],
    ["GET /release-raises: the release of an input raised"],
  ],
  "release-hangs": [
    "x",
    ["slow: answered 200", "outer: answered 200"],
    ["GET /release-hangs: the release of an input has not ended in 10s"],
  ],
  "after-fails": ["x", ["the next task"], ["GET /after-fails: its work after the answer raised"]],
  "too-late": ["timed_out", ["outer: timed out 503"], []],
  commit: [
    "outcome_unknown",
    ["asked to commit", "committed", "outer: timed out 503"],
    ["GET /commit: its handler answered 200 after its deadline, which is not sent"],
  ],
  cut: ["cut", ["outer: failed 200"], ["stream on /cut failed, so its connection is closed"]],
};

/** The content of a body: the name of a refusal, or the text. */
export function saidBy(body: string): string {
  return body.startsWith("{") ? (JSON.parse(body) as { error: string }).error : body;
}
