/** Bodies read as they arrive (contract 4.5; rows BS). */
import { describe, expect, it } from "vitest";
import { Body, Codec, Dep, Header, Path, Returns, Test, App, bodyStream, post } from "usher-http";
import type { BodyFailure, Route } from "usher-http";
import { unsupported } from "../support/refusals.ts";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

/** The number of chunks, the length of the longest, and the number of all bytes. */
const counted = (max: number, ...contentTypes: readonly string[]): Route =>
  post(
    Path.of("upload"),
    {
      inputs: { upload: bodyStream({ max, ...(contentTypes.length > 0 ? { contentTypes } : {}) }) },
      returns: Returns.text,
    },
    async ({ upload }) => {
      let parts = 0;
      let bytes = 0;
      for (;;) {
        const read = await upload.read();
        if (!read.ok) return Body.refusal(read.error);
        if (read.value === undefined) return `${parts} parts, ${bytes} bytes`;
        expect(read.value.byteLength).toBeLessThanOrEqual(65_536);
        parts++;
        bytes += read.value.byteLength;
      }
    },
  );

const octets = { "content-type": "application/octet-stream" };

async function send(route: Route, body: string | Uint8Array, headers: Record<string, string> = octets) {
  const { status, body: text } = await Test.call(Test.app([route]), "POST", "/upload", { body, headers });
  return [status, text] as const;
}

/** A request with a chunked body, without Content-Length. */
const chunked = (parts: readonly (string | Uint8Array)[], headers: Record<string, string> = octets): Request => {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? encoder.encode(part) : part);
      controller.close();
    },
  });
  return new Request("http://localhost/upload", { method: "POST", body, headers, duplex: "half" });
};

describe("a body stream: limits and types", () => {
  it("BS-01 has chunks of at most 64 KiB", async () => {
    expect(await send(counted(200_000, "application/octet-stream"), new Uint8Array(150_000))).toEqual([
      200,
      "3 parts, 150000 bytes",
    ]);
  });

  it("BS-02 without bytes ends at once", async () => {
    expect(await send(counted(10), "")).toEqual([200, "0 parts, 0 bytes"]);
    const { body } = await Test.call(Test.app([counted(10)]), "POST", "/upload");
    expect(body).toBe("0 parts, 0 bytes");
  });

  it("BS-03 above its limit is a 413", async () => {
    const [status, body] = await send(counted(200_000), new Uint8Array(200_001));
    expect([status, JSON.parse(body).error]).toEqual([413, "too_large"]);
    expect((await send(counted(200_000), new Uint8Array(200_000)))[0]).toBe(200);
  });

  it("BS-04 with another content type is a 415", async () => {
    expect(await send(counted(10, "application/octet-stream"), "x", { "content-type": "text/plain" })).toEqual([
      415,
      unsupported,
    ]);
  });

  it("without a content type counts as application/octet-stream (RFC 9110 §8.3)", async () => {
    expect(await send(counted(10, "application/octet-stream"), "x", {})).toEqual([200, "1 parts, 1 bytes"]);
    expect(await send(counted(10, "text/csv"), "x", {})).toEqual([415, unsupported]);
  });

  it.each(["IMAGE/png; q=1", "application/ld+json", "text/csv"])("BS-06 accepts %s", async (type) => {
    const route = counted(10, "image/*", "application/*+json", "text/csv");
    expect(await send(route, "abc", { "content-type": type })).toEqual([200, "1 parts, 3 bytes"]);
  });
});

const cut = { kind: "unreadable", detail: "the request was answered before its body was read" };

describe("a body stream: its end", () => {
  it("BS-07 fails when it is read after the request is answered", async () => {
    let late: Promise<unknown> | undefined;
    const route = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 10 }) }, returns: Returns.text },
      ({ upload }) => {
        late = new Promise((resolve) => setTimeout(() => resolve(upload.read()), 0));
        return "answered";
      },
    );
    expect(await send(route, "abc")).toEqual([200, "answered"]);
    expect(await late).toEqual({ ok: false, error: cut });
    expect(messages("warn")).toEqual([
      "/upload read its body, the input upload, after its answer had gone, which failed: await each read before the handler returns",
    ]);
  });

  it("fails a pending read when the request is answered", async () => {
    const pulled = gate();
    let waiting: Promise<unknown> | undefined;
    const route = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 10 }) }, returns: Returns.text },
      async ({ upload }) => {
        waiting = upload.read();
        await pulled.passed;
        return "answered";
      },
    );
    const pull = () => (pulled.open(), new Promise<void>(() => {}));
    const never = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const init = { method: "POST", body: never, duplex: "half" } as RequestInit;
    const answer = await App.make([route]).fetch(new Request("http://localhost/upload", init));
    expect(await answer.text()).toBe("answered");
    expect(await waiting).toEqual({ ok: false, error: cut });
  });

  it("BS-08 is not limited by the app's maxBody", async () => {
    const app = Test.app([counted(1_000_000)], { maxBody: 1024 });
    const { body } = await Test.call(app, "POST", "/upload", { body: new Uint8Array(300_000) });
    expect(body).toBe("5 parts, 300000 bytes");
  });

  it("BS-09 needs no Content-Length", async () => {
    const answer = await App.make([counted(1_000_000)]).fetch(chunked(["hello", " ", "world"]));
    expect(await answer.text()).toBe("3 parts, 11 bytes");
  });

  it("BS-10 without Content-Length is a 413 when it exceeds its limit", async () => {
    const answer = await App.make([counted(10)]).fetch(chunked(["hello ", "world", "and on"]));
    expect(answer.status).toBe(413);
  });
});

describe("a body stream: readers", () => {
  it("has one reader at a time, for any number of pending reads", async () => {
    const route = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 100 }) }, returns: Returns.text },
      async ({ upload }) => {
        const reads = await Promise.all([upload.read(), upload.read(), upload.read(), upload.read()]);
        return reads.map((read) => (read.ok && read.value ? new TextDecoder().decode(read.value) : "end")).join(" ");
      },
    );
    const answer = await App.make([route]).fetch(chunked(["one", "two"]));
    expect(await answer.text()).toBe("one two end end");
  });

  it("fails every read after the first failure", async () => {
    const seen: (BodyFailure | undefined)[] = [];
    const route = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 4 }) }, returns: Returns.text },
      async ({ upload }) => {
        for (let i = 0; i < 4; i++) {
          const read = await upload.read();
          seen.push(read.ok ? undefined : read.error);
        }
        return "";
      },
    );
    await App.make([route]).fetch(chunked(["abc", "def", "ghi"]));
    const failure = { kind: "too_large", detail: "the body is longer than the limit" };
    expect(seen).toEqual([undefined, failure, failure, failure]);
  });

  it("throws the refusal when it is iterated", async () => {
    const route = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 4 }) }, returns: Returns.text },
      async ({ upload }) => {
        let text = "";
        for await (const part of upload) text += new TextDecoder().decode(part);
        return text;
      },
    );
    expect(await (await App.make([route]).fetch(chunked(["ab", "cd"]))).text()).toBe("abcd");
    expect((await App.make([route]).fetch(chunked(["ab", "cd", "e"]))).status).toBe(413);
  });
});

describe("a body stream: faults", () => {
  it("that breaks off is refused as unreadable", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    const init = { method: "POST", body: broken, duplex: "half", headers: octets } as RequestInit;
    const answer = await App.make([counted(10)]).fetch(new Request("http://localhost/upload", init));
    expect([answer.status, JSON.parse(await answer.text()).error]).toEqual([400, "unreadable"]);
  });

  it("is not read if an earlier input is invalid", async () => {
    let ran = false;
    const route = post(
      Path.of("upload"),
      {
        inputs: { upload: bodyStream({ max: 4 }), count: Header.required("x-count", Codec.int) },
        returns: Returns.text,
      },
      () => {
        ran = true;
        return "";
      },
    );
    expect((await send(route, "abcdefgh", {}))[0]).toBe(400);
    expect(ran).toBe(false);
  });

  it("may be used by Dep.map, and chosen by Dep.bind", async () => {
    const upload = bodyStream({ max: 100 });
    const route = post(
      Path.of("upload"),
      {
        inputs: {
          direct: upload,
          mapped: Dep.map(upload, (body) => body),
          bound: Dep.bind(Header.required("x-a", Codec.string), () => upload),
        },
        returns: Returns.text,
      },
      async ({ direct, mapped, bound }) => {
        const read = await direct.read();
        return `${direct === mapped} ${direct === bound} ${read.ok ? read.value?.byteLength : "failed"}`;
      },
    );
    expect(await send(route, "abc", { "x-a": "b" })).toEqual([200, "true true 3"]);
  });

  it("next to another reader that only Dep.bind chose is a bug of the application", async () => {
    const second = Dep.bind(Header.required("x-a", Codec.string), () => bodyStream({ max: 5 }));
    const route = post(
      Path.of("upload"),
      { inputs: { first: bodyStream({ max: 100 }), second }, returns: Returns.text },
      () => "",
    );
    expect((await send(route, "abc", { "x-a": "b" }))[0]).toBe(500);
    expect(messages("error")).toEqual([
      "POST /upload: internal: /upload read its body in two ways, where a body is read one way",
    ]);
  });
});

describe("the body budget", () => {
  it("is held by a chunk until the next chunk is read", async () => {
    const route = counted(1_000_000);
    const app = App.make([route], { bodyBudget: 70_000 });
    const parts = Array.from({ length: 10 }, () => new Uint8Array(60_000));
    expect(await (await app.fetch(chunked(parts))).text()).toBe("10 parts, 600000 bytes");
    // Nothing stays held: as many bytes fit again.
    expect(await (await app.fetch(chunked(parts))).text()).toBe("10 parts, 600000 bytes");
  });

  it("refuses a chunk that does not fit, and frees the unread chunks of an answered request", async () => {
    const kept = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 1_000_000 }) }, returns: Returns.text },
      async ({ upload }) => {
        const read = await upload.read();
        return read.ok ? `${read.value?.byteLength}` : Body.refusal(read.error);
      },
    );
    const app = App.make([kept], { bodyBudget: 70_000 });
    for (let i = 0; i < 3; i++) {
      const answer = await app.fetch(chunked([new Uint8Array(60_000), new Uint8Array(60_000)]));
      expect(await answer.text()).toBe("60000");
    }
    const refused = await app.fetch(chunked([new Uint8Array(80_000)]));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(JSON.parse(await refused.text()).error).toBe("busy");
  });
});
