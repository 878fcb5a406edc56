/** Request smuggling: a request in the body of another (rows AT, WR-03, WR-04) is never answered; no handler runs for it. */
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, body, get, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

interface Row {
  readonly id: string;
  readonly what: string;
  readonly head: readonly string[];
  readonly status: 400 | 501;
}

const length = "content-length: 6";
const chunked = "transfer-encoding: chunked";
const beside = (id: string, what: string, ...lines: readonly string[]): Row => {
  return { id, what: `a length beside ${what}`, head: [length, ...lines], status: 400 };
};
const before = (id: string, what: string, ...lines: readonly string[]): Row => {
  return { id, what: `${what}, then a length`, head: [...lines, length], status: 400 };
};
const two = (id: string, what: string, status: Row["status"], ...lines: readonly string[]): Row => {
  return { id, what, head: lines, status };
};

const rows: readonly Row[] = [
  beside("AT-01", "chunks", chunked),
  beside("AT-03", "chunks with a tab behind", `${chunked}\t`),
  beside("AT-04", "chunks in capitals", "transfer-encoding: CHUNKED"),
  beside("AT-06", "what only ends in chunked", "transfer-encoding: xchunked"),
  beside("AT-07", "chunked, identity", "transfer-encoding: chunked, identity"),
  beside("AT-09", "chunks behind a vertical tab", "transfer-encoding:\u000bchunked"),
  beside("AT-10", "chunks with a blank before the colon", "transfer-encoding : chunked"),
  beside("AT-12", "chunks folded onto the line before", "x: y", ` ${chunked}`),
  beside("AT-12", "a coding folded onto its own name", "transfer-encoding:", " chunked"),
  beside("AT-13", "chunks behind a bare LF", `x: y\n${chunked}`),
  beside("AT", "chunks behind a bare CR", `x: y\r${chunked}`),
  beside("AT", "chunks behind a form feed", "transfer-encoding: \u000cchunked"),
  beside("AT", "chunks in quotes", 'transfer-encoding: "chunked"'),
  beside("AT", "identity", "transfer-encoding: identity"),
  beside("AT", "a coding that is empty", "transfer-encoding:"),
  before("AT-15", "chunks", chunked),
  before("AT-16", "chunks and an x", chunked, "transfer-encoding: x"),
  before("AT", "chunks in one of two lengths", chunked, "content-length: 60"),
  before("AT", "a coding that is empty", "transfer-encoding:"),
  before("AT", "a coding of a blank", "transfer-encoding: \t"),
  before("AT", "nothing but commas", "transfer-encoding: ,,"),
  before("AT", "chunks behind a no-break space", "transfer-encoding: \u00a0chunked"),
  before("AT", "chunks behind another coding", "transfer-encoding: gzip, chunked"),
  two("AT-18", "identity, then chunks", 501, "transfer-encoding: identity", chunked),
  two("AT-19", "chunks twice", 400, chunked, chunked),
  two("AT", "no coding at all, of which nothing is known", 400, "transfer-encoding:"),
  two("AT", "chunks and then another", 400, chunked, "transfer-encoding: gzip"),
  two("AT", "an empty coding and then chunks of two", 400, "transfer-encoding:", "transfer-encoding: chunked, chunked"),
  two("AT", "chunks and then an empty coding", 400, chunked, "transfer-encoding:"),
  two("AT", "chunks and then nothing in the list", 400, `${chunked},`),
  two("AT", "chunks and then a blank in the list", 400, `${chunked}, `),
  // HTTP's white space is SP and HTAB: other characters that a language trims are part of a coding's name (RFC 9110 §5.6.3).
  two("AT", "chunks behind a no-break space", 400, "transfer-encoding: \u00a0chunked"),
  two("AT", "chunks before a no-break space", 400, "transfer-encoding: chunked\u00a0"),
  two("AT", "chunks behind a no-break space in the list", 400, "transfer-encoding: gzip,\u00a0chunked"),
  two("AT", "chunks behind a next line", 400, "transfer-encoding: \u0085chunked"),
  two("AT", "chunks with a parameter", 400, "transfer-encoding: chunked;a=b"),
];

const ran = vi.fn();
const routes = [
  get(Path.of("hidden"), { returns: Returns.text }, () => (ran(), "hidden")),
  post(Path.of("reads"), { inputs: { body }, returns: Returns.text }, () => (ran(), "read")),
  post(Path.of("ignores"), { returns: Returns.text }, () => (ran(), "ignored")),
  post(Path.of("later"), { returns: Returns.text }, async () => (ran(), "later")),
];
const hidden = "GET /hidden HTTP/1.1\r\nhost: h\r\n\r\n";
// By its length the body is complete, by its chunks it is empty; a proxy in front used one of the two.
const wire = `0\r\n\r\n${hidden}`;

describe("a request in the body of another one", () => {
  it.each(rows)("$id $what: $status", async ({ head, status }) => {
    ran.mockClear();
    const { port } = await start(routes);
    for (const path of ["reads", "ignores", "later", "nowhere"]) {
      const client = await RawClient.to(port);
      const answered = await client.send(`POST /${path} HTTP/1.1`, "host: h", ...head, "", wire).answer();
      expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, "", "close"]);
      expect(await client.rest()).toBe("");
    }
    expect(ran).not.toHaveBeenCalled();
    const [, ...said] = messages("info");
    expect(said).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^refused a request head: [45]0[01] /)));
  });

  it.each(["reads", "ignores", "later"])(
    "AT-21 that follows Expect without a 100 Continue is the body: /%s",
    async (path) => {
      ran.mockClear();
      const { port } = await start(routes);
      const client = await RawClient.to(port);
      const expects = ["host: h", "expect: 100-continue", `content-length: ${hidden.length}`];
      client.send(`POST /${path} HTTP/1.1`, ...expects, "", hidden).ask("GET /hidden", ["connection: close"]);
      const answers = [];
      for (let i = 0; i < 3; i++) {
        const answered = await client.answer().catch(() => undefined);
        if (answered !== undefined) answers.push(`${answered.status} ${answered.body}`);
      }
      // If the handler reads the body, it gets 100 Continue and the connection stays open; otherwise no later request is answered.
      expect(answers).toEqual(path === "reads" ? ["100 ", "200 read", "200 hidden"] : [expect.stringMatching(/^200 /)]);
      expect(ran).toHaveBeenCalledTimes(path === "reads" ? 2 : 1);
      expect(await client.rest()).toBe("");
    },
  );
});
