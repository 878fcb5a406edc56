/** Multipart bodies, part by part (contract 4.5; rows MP-26 to MP-31). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Body, Codec, Dep, Form, Path, Refusal, Returns, Test, multipart, post } from "usher-http";
import type { Part, Problem, Route } from "usher-http";
import { invalid, unsupported } from "../support/refusals.ts";
import { messages } from "../support/logs.ts";

const type = "multipart/form-data; boundary=b";

/** Returns each part as `name=filename:content`, and skips a part named `skip`. */
const uploads = (max = 400, maxHead?: number): Route =>
  post(
    Path.of("uploads"),
    { inputs: { upload: multipart({ max, ...(maxHead === undefined ? {} : { maxHead }) }) }, returns: Returns.text },
    async ({ upload }) => {
      const told: string[] = [];
      for (;;) {
        const next = await upload.next();
        if (!next.ok) return Body.refusal(next.error);
        if (next.value === undefined) return told.join(";");
        const { name, filename } = next.value;
        if (name === "skip") continue;
        let text = "";
        for (;;) {
          const read = await next.value.read();
          if (!read.ok) return Body.refusal(read.error);
          if (read.value === undefined) break;
          text += new TextDecoder().decode(read.value);
        }
        told.push(`${name}=${filename ?? ""}:${text}`);
      }
    },
  );

const part = (name: string, content: string, filename?: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n${content}\r\n`;

async function send(route: Route, body: string, contentType: string | undefined = type): Promise<[number, string]> {
  const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
  const answered = await Test.call(Test.app([route]), "POST", "/uploads", { body, headers });
  return [answered.status, answered.body];
}

describe("multipart: limits and types", () => {
  it("MP-26 skips the parts that a handler does not read", async () => {
    const body = `${part("a", "one")}${part("skip", "a lot")}${part("f", "BYTES", "v.mp4")}--b--`;
    expect(await send(uploads(), body)).toEqual([200, "a=:one;f=v.mp4:BYTES"]);
  });

  it("MP-27 has the limit of its route", async () => {
    const [status, body] = await send(uploads(), `${part("a", "x".repeat(500))}--b--`);
    expect([status, JSON.parse(body).error]).toEqual([413, "too_large"]);
  });

  it.each([
    ["MP-28", "application/x-www-form-urlencoded"],
    ["another kind of multipart", "multipart/mixed; boundary=b"],
  ])("%s is a 415", async (_id, contentType) => {
    expect(await send(uploads(), "a=b", contentType)).toEqual([415, unsupported]);
  });

  it("MP-29 without a boundary is a problem of its content type", async () => {
    expect(await send(uploads(), "--b--", "multipart/form-data")).toEqual([
      400,
      invalid(["header.content-type", "malformed", "This names no boundary."]),
    ]);
  });

  it("MP-30 that ends early is not a multipart form", async () => {
    const notMultipart = invalid(["body", "malformed", "This is not a multipart form."]);
    expect(await send(uploads(), part("a", "one"))).toEqual([400, notMultipart]);
    expect(await send(uploads(), `${part("a", "one")}--b\r\nContent-Dis`)).toEqual([400, notMultipart]);
    expect(messages("warn")).toHaveLength(2);
  });

  it("MP-31 without a content type is a 415", async () => {
    const { status } = await Test.call(Test.app([uploads()]), "POST", "/uploads", { body: "--b--" });
    expect(status).toBe(415);
  });

  it("limits the length of the heads of parts", async () => {
    const long = `--b\r\nContent-Disposition: form-data; name="a"; filename="${"x".repeat(300)}"\r\n\r\n\r\n--b--`;
    expect((await send(uploads(4000, 200), long))[0]).toBe(413);
    expect((await send(uploads(4000), long))[0]).toBe(200);
  });
});

describe("multipart: parts", () => {
  it("can be read in chunks of any size", async () => {
    const text = `preamble\r\n${part("a", "one\r\n--c")}${part("f", "", "empty")}--b--\r\nepilogue`;
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const init = { method: "POST", body, duplex: "half", headers: { "content-type": type } } as RequestInit;
    const answer = await App.make([uploads()]).fetch(new Request("http://localhost/uploads", init));
    expect(await answer.text()).toBe("a=:one\r\n--c;f=empty:");
  });

  it("yields its parts and their chunks when iterated, and throws the refusal of a failure", async () => {
    const route = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        let told = "";
        for await (const part of upload) {
          told += `${part.name}=`;
          for await (const piece of part) told += new TextDecoder().decode(piece);
          told += ";";
        }
        return told;
      },
    );
    expect(await send(route, `${part("a", "one")}${part("b", "two")}--b--`)).toEqual([200, "a=one;b=two;"]);
    expect((await send(route, part("a", "one")))[0]).toBe(400);
  });

  it("ends for good at its last boundary, whatever follows", async () => {
    const route = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        for await (const part of upload) await part.read();
        return JSON.stringify([await upload.next(), await upload.next()]);
      },
    );
    expect(await send(route, `${part("a", "one")}--b--\r\nmore`)).toEqual([200, '[{"ok":true},{"ok":true}]']);
  });
});

describe("multipart: its end", () => {
  it.each([
    ["was asked for", `${part("b", "two")}--b--`],
    ["cannot be read", "--bad"],
    ["is none", "--b--"],
  ])("ends a part when the next one %s", async (_what, behind) => {
    const route = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        const first = await upload.next();
        await upload.next();
        const late = first.ok ? await first.value?.read() : undefined;
        return JSON.stringify(late);
      },
    );
    expect(await send(route, part("a", "one") + behind)).toEqual([200, '{"ok":true}']);
  });

  it("fails when it is read after the request is answered", async () => {
    let kept: Part | undefined;
    const route = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        const first = await upload.next();
        if (first.ok) kept = first.value;
        return "answered";
      },
    );
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(new TextEncoder().encode('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n')),
    });
    const init = { method: "POST", body, duplex: "half", headers: { "content-type": type } } as RequestInit;
    await App.make([route]).fetch(new Request("http://localhost/uploads", init));
    expect(await kept?.read()).toMatchObject({ ok: false, error: { kind: "unreadable" } });
  });
});

describe("a part that is parsed as a field", () => {
  const short = v.pipe(v.string(), v.minLength(2), v.regex(/^[a-z]*$/));
  const kinds = { text: Codec.string, number: Codec.int, short, when: Codec.instant };
  /** The answer of a route that parses the parts by the kind of their name. */
  const parsing = post(
    Path.of("uploads"),
    { inputs: { upload: multipart({ max: 200_000 }) }, returns: Returns.text },
    async ({ upload }) => {
      const told: string[] = [];
      for await (const part of upload) {
        const value = await part.parse<unknown>(kinds[part.name as "text"] as never);
        told.push(value instanceof Date ? value.toISOString() : String(value));
      }
      return told.join(";");
    },
  );
  /** The same by inputs of the form. */
  const asForm = (name: keyof typeof kinds) =>
    post(
      Path.of("uploads"),
      { inputs: { value: Form.required(name, kinds[name] as typeof Codec.string) }, returns: Returns.text },
      ({ value }) => String(value),
    );

  it("is the value of its codec or schema, whether it is a file or not", async () => {
    const body = `${part("number", "7")}${part("short", "abc")}${part("when", "2026-11-29T20:00:00Z", "a.txt")}--b--`;
    expect(await send(parsing, body)).toEqual([200, "7;abc;2026-11-29T20:00:00.000Z"]);
  });

  it.each([
    ["number", "seven"],
    ["number", ""],
    ["text", ""],
    ["short", "A"],
    ["short", "ab"],
    ["text", "é, 日本"],
  ] as const)("answers as Form.required does for %s %j", async (name, content) => {
    const body = `${part(name, content)}--b--`;
    expect(await send(parsing, body)).toEqual(await send(asForm(name), body));
  });

  it.each([
    ["bytes that are not UTF-8", "", [0xff, 0x41]],
    ["a charset that it names", "; charset=iso-8859-1", [0xe9]],
    ["an unknown charset", "; charset=none-such", [0x41]],
  ])("answers as Form.required does for %s", async (_name, parameter, bytes) => {
    const head = `--b\r\nContent-Disposition: form-data; name="text"\r\nContent-Type: text/plain${parameter}\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from("\r\n--b--")]);
    const answerOf = async (route: Route) => {
      const { status, body: text } = await Test.call(Test.app([route]), "POST", "/uploads", {
        body,
        headers: { "content-type": type },
      });
      return [status, text];
    };
    expect(await answerOf(parsing)).toEqual(await answerOf(asForm("text")));
  });

  it("is a 413 where it is longer than its limit, 64 KiB by default", async () => {
    const [status] = await send(parsing, `${part("text", "x".repeat(65_536))}--b--`);
    expect(status).toBe(200);
    const [longer, body] = await send(parsing, `${part("text", "x".repeat(65_537))}--b--`);
    expect([longer, JSON.parse(body).error]).toEqual([413, "too_large"]);
  });

  it("leaves its problems to the handler, which may continue with the next part", async () => {
    const gathering = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        const problems: Problem[] = [];
        for await (const part of upload)
          await part.parse(Codec.int).catch((caught: unknown) => {
            if (!(caught instanceof Refusal)) throw caught;
            problems.push(...caught.problems);
          });
        return problems.length > 0 ? Dep.problems(problems) : "read";
      },
    );
    const [status, body] = await send(
      gathering,
      `${part("a", "one")}${part("b", "2")}${part("c", "three", "c.txt")}${part("d", "4.5")}--b--`,
    );
    const told: readonly Problem[] = JSON.parse(body).problems;
    expect([status, told.map(({ at, code }) => `${at} ${code}`)]).toEqual([
      400,
      ["form.a malformed", "form.c malformed", "form.d malformed"],
    ]);
  });

  it("ends no process where it is not awaited", async () => {
    const careless = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        for await (const part of upload) void part.parse(Codec.int);
        return "read";
      },
    );
    expect(await send(careless, `${part("number", "seven")}--b--`)).toEqual([200, "read"]);
  });

  it.each([0, 1.5, "9"])("refuses a limit of %j", async (max) => {
    const thrown: unknown[] = [];
    const route = post(
      Path.of("uploads"),
      { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text },
      async ({ upload }) => {
        for await (const part of upload) {
          try {
            await part.parse(Codec.int, { max: max as number });
          } catch (caught) {
            thrown.push((caught as Error).message);
          }
        }
        return "read";
      },
    );
    await send(route, `${part("number", "7")}--b--`);
    expect(thrown).toEqual([expect.stringContaining("Part.parse: max")]);
  });
});
