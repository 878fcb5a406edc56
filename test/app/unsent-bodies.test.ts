/** The stream of an answer that is not sent is cancelled, whatever prevents it: its source would stay open. */
import { expect, it, vi } from "vitest";
import { Answer, Path, Returns, Test, get } from "usher-http";
import type { AnswerType } from "usher-http";
import "../support/logs.ts";

const oh = (): never => {
  throw new RangeError("oh");
};
const cookie = { name: "c", value: "v", path: "/", httpOnly: true, sameSite: "lax" } as const;

type Change = readonly [what: string, status: number, change: (answer: AnswerType) => AnswerType];
const changes: readonly Change[] = [
  ["a header that cannot be sent", 500, (answer) => ({ ...answer, headers: [["x-bad", "a\nb"]] })],
  ["a status that does not exist", 500, (answer) => ({ ...answer, status: 1000 })],
  [
    "a cookie that cannot be sealed",
    500,
    (answer) => ({ ...answer, cookies: [{ ...cookie, seal: async () => oh() }] }),
  ],
  ["a revision that throws", 500, (answer) => ({ ...answer, revise: oh })],
  ["a revision that rejects", 500, (answer) => ({ ...answer, revise: async () => oh() })],
  ["a revision to a text", 200, (answer) => ({ ...answer, revise: (_, made) => ({ ...made, body: "text" }) })],
  [
    "a later revision to a text",
    200,
    (answer) => ({ ...answer, revise: async (_, made) => ({ ...made, body: "text" }) }),
  ],
  [
    "a revision to what cannot be sent",
    500,
    (answer) => ({ ...answer, revise: (_, made) => ({ ...made, status: 1 }) }),
  ],
  [
    "a later revision to what cannot be sent",
    500,
    (answer) => ({ ...answer, revise: async (_, made) => ({ ...made, status: 1 }) }),
  ],
  ["a status without a body", 204, (answer) => ({ ...answer, status: 204 })],
];

/** The stream, or a stream that is made of it, as a compressed body is. */
const bodies: readonly (readonly [of: string, wrap: (answer: AnswerType) => AnswerType])[] = [
  ["a stream", (answer) => answer],
  [
    "a stream that is made of another",
    (answer) => {
      const { body } = answer;
      if (typeof body !== "object" || !("parts" in body)) return answer;
      async function* made(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        yield* parts;
      }
      return { ...answer, body: { ...body, parts: made(body.parts), source: body } };
    },
  ],
];

it.each(bodies.flatMap(([of, wrap]) => changes.map(([what, status, change]) => ({ of, what, status, wrap, change }))))(
  "$of is cancelled once in an answer with $what",
  async ({ status, wrap, change }) => {
    const cancel = vi.fn();
    const stream = new ReadableStream<Uint8Array>({ cancel });
    const route = get(Path.root, { returns: Returns.response }, () => change(wrap(Answer.stream(stream))));
    expect((await Test.call(Test.app([route]), "GET", "/")).status).toBe(status);
    expect(cancel).toHaveBeenCalledOnce();
  },
);
