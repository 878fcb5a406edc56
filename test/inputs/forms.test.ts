/** Form fields and files (contract 2.7, 4.5; rows FM). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Codec, Dep, Form, Header, Path, Returns, Test, get, post } from "usher-http";
import type { UploadedFile } from "usher-http";
import { invalid, unsupported } from "../support/refusals.ts";
import "../support/logs.ts";

const urlencoded = "application/x-www-form-urlencoded";

const profile = post(
  Path.of("profile"),
  {
    inputs: {
      email: Form.required("email", Codec.string),
      age: Form.optional("age", Codec.int),
      tags: Form.list("tag", Codec.string),
      remember: Form.checked("remember"),
    },
    returns: Returns.text,
  },
  ({ email, age, tags, remember }) => `${email} ${age ?? "-"} [${tags.join(",")}] ${remember}`,
);

const told = ({ filename, contentType, content }: UploadedFile): string =>
  `${filename ?? "-"}(${contentType.type}/${contentType.subtype})=${new TextDecoder().decode(content)}`;

const picture = post(
  Path.of("picture"),
  {
    inputs: {
      name: Form.required("name", Codec.string),
      avatar: Form.File.optional("avatar"),
      docs: Form.File.list("doc"),
    },
    returns: Returns.text,
  },
  ({ name, avatar, docs }) =>
    `${name} ${avatar === undefined ? "-" : told(avatar)} [${docs.map((doc) => told(doc)).join(",")}]`,
);

const app = Test.app([profile, picture]);

async function send(target: string, body: string | Uint8Array, type: string | undefined): Promise<[number, string]> {
  const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
  const { status, body: text } = await Test.call(app, "POST", target, { body, headers });
  return [status, text];
}

/** A multipart body of these lines, unchanged. */
const parts = (...lines: readonly string[]): string => lines.join("\r\n");
const multipart = "multipart/form-data; boundary=b";

describe("a form: fields", () => {
  it.each([
    ["FM-01", urlencoded, "email=kim%40x.io&age=30&tag=a&tag=b+c&remember=on", "kim@x.io 30 [a,b c] true"],
    ["FM-03", `${urlencoded}; charset=utf-8`, "email=k", "k - [] false"],
    ["FM-07", undefined, "email=a&age=1&tag=x", "a 1 [x] false"],
    ["type in capitals", "Application/X-WWW-Form-URLencoded", "email=k", "k - [] false"],
    ["a name alone is an empty value", urlencoded, "email&remember", " - [] true"],
    ["the first of a name", urlencoded, "email=a&email=b", "a - [] false"],
    ["empty pieces", urlencoded, "&&email=a&&", "a - [] false"],
    ["an equals sign in the value", urlencoded, "email=a=b", "a=b - [] false"],
    ["a % that stands for itself", urlencoded, "email=100%&tag=%zz", "100% - [%zz] false"],
    ["an encoded name", urlencoded, "e%6Dail=a", "a - [] false"],
  ])("%s is read", async (_id, type, body, text) => {
    expect(await send("/profile", body, type)).toEqual([200, text]);
  });

  it("FM-04 reports every wrong field, in the order of the declaration", async () => {
    expect(await send("/profile", "age=old&tag=%FF", urlencoded)).toEqual([
      400,
      invalid(
        ["form.email", "required", "This is required."],
        ["form.age", "malformed", "This is not a whole number."],
        ["form.tag", "malformed", "This is not text."],
      ),
    ]);
  });

  it("is invalid only in the fields whose bytes are not UTF-8", async () => {
    const bytes = Uint8Array.from([...Buffer.from("email=a&tag=x&age="), 0xff]);
    expect(await send("/profile", bytes, urlencoded)).toEqual([
      400,
      invalid(["form.age", "malformed", "This is not a whole number."]),
    ]);
    const elsewhere = Uint8Array.from([...Buffer.from("email=a&other="), 0xff]);
    expect(await send("/profile", elsewhere, urlencoded)).toEqual([200, "a - [] false"]);
  });

  it.each([
    ["FM-06", "application/json"],
    ["multipart of another kind", "multipart/mixed; boundary=b"],
    ["no media type", "form"],
    ["parameters that cannot be read", `${urlencoded}; =`],
    ["nothing", ""],
  ])("%s is a 415", async (_id, type) => {
    expect(await send("/profile", "email=k", type)).toEqual([415, unsupported]);
  });

  it("with two Content-Type headers is a 415", async () => {
    const headers = [
      ["content-type", urlencoded],
      ["content-type", urlencoded],
    ] as const;
    const { status } = await Test.call(app, "POST", "/profile", { body: "email=k", headers });
    expect(status).toBe(415);
  });
});

describe("a form: files", () => {
  it("FM-10 can have fields and files", async () => {
    const body = parts(
      "--b",
      'Content-Disposition: form-data; name="name"',
      "",
      "kim",
      "--b",
      'Content-Disposition: form-data; name="avatar"; filename="me.png"',
      "Content-Type: image/png",
      "",
      "PNG",
      "--b",
      'Content-Disposition: form-data; name="doc"; filename="a.txt"',
      "",
      "A",
      "--b",
      'Content-Disposition: form-data; name="doc"; filename="b.csv"',
      "Content-Type: text/csv",
      "",
      "B",
      "--b--",
    );
    expect(await send("/picture", body, multipart)).toEqual([
      200,
      "kim me.png(image/png)=PNG [a.txt(text/plain)=A,b.csv(text/csv)=B]",
    ]);
  });

  it.each([
    ["FM-11 no file where none was chosen", "", "", "kim - []"],
    ["a file that has no name", "", "PNG", "kim -(image/png)=PNG []"],
    ["a file of no bytes", "me.png", "", "kim me.png(image/png)= []"],
  ])("%s", async (_id, filename, content, text) => {
    const body = parts(
      "--b",
      'Content-Disposition: form-data; name="name"',
      "",
      "kim",
      "--b",
      `Content-Disposition: form-data; name="avatar"; filename="${filename}"`,
      "Content-Type: image/png",
      "",
      content,
      "--b--",
    );
    expect(await send("/picture", body, multipart)).toEqual([200, text]);
  });

  it("FM-12 has the same values in both encodings", async () => {
    expect(await send("/picture", "name=kim", urlencoded)).toEqual([200, "kim - []"]);
  });
});

describe("a form: faults", () => {
  it("FM-13 reports a missing file", async () => {
    const route = post(
      Path.root,
      { inputs: { avatar: Form.File.required("avatar") }, returns: Returns.text },
      ({ avatar }) => told(avatar),
    );
    const missing = invalid(["form.avatar", "required", "This is required."]);
    const { status, body } = await Test.call(Test.app([route]), "POST", "/", { body: new URLSearchParams({ a: "b" }) });
    expect([status, body]).toEqual([400, missing]);
    // A field is not a file.
    const form = new FormData();
    form.set("avatar", "text");
    expect((await Test.call(Test.app([route]), "POST", "/", { body: form })).body).toBe(missing);
    form.set("avatar", new Blob(["PNG"], { type: "image/png" }), "me.png");
    expect((await Test.call(Test.app([route]), "POST", "/", { body: form })).body).toBe("me.png(image/png)=PNG");
  });

  it("FM-15 that is cut off is not a multipart form", async () => {
    const body = parts("--b", 'Content-Disposition: form-data; name="name"', "", "kim");
    expect(await send("/picture", body, multipart)).toEqual([
      400,
      invalid(["body", "malformed", "This is not a multipart form."]),
    ]);
  });

  it("FM-16 has parts with heads of at most 16 KiB", async () => {
    const [status, body] = await send("/picture", `--b\r\nX-Odd: ${"x".repeat(17_000)}`, multipart);
    expect([status, JSON.parse(body)]).toEqual([413, expect.objectContaining({ error: "too_large" })]);
  });

  it.each(["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=a@b"])(
    "%s names no boundary",
    async (type) => {
      expect(await send("/picture", "--b--", type)).toEqual([
        400,
        invalid(["header.content-type", "malformed", "This names no boundary."]),
      ]);
    },
  );
});

describe("a form: all problems", () => {
  it("reports all problems of fields and files at once", async () => {
    const route = post(
      Path.root,
      {
        inputs: {
          kind: Form.required("kind", Codec.enum("kind", ["a", "b"])),
          file: Form.File.required("file"),
          count: Form.required("count", Codec.int),
        },
        returns: Returns.text,
      },
      () => "",
    );
    const form = new FormData();
    form.set("kind", "c");
    form.set("count", "x");
    const { body } = await Test.call(Test.app([route]), "POST", "/", { body: form });
    expect(body).toBe(
      invalid(
        ["form.kind", "malformed", "This is not one of a, b."],
        ["form.file", "required", "This is required."],
        ["form.count", "malformed", "This is not a whole number."],
      ),
    );
  });

  it("is not read if an earlier input is invalid", async () => {
    const route = post(
      Path.root,
      {
        inputs: { name: Form.required("name", Codec.string), count: Header.required("x-count", Codec.int) },
        returns: Returns.text,
      },
      () => "",
    );
    const { body } = await Test.call(Test.app([route]), "POST", "/", { body: "", headers: { "x-count": "x" } });
    expect(body).toBe(invalid(["header.x-count", "malformed", "This is not a whole number."]));
  });
});

describe("a form: joined", () => {
  it("can be used in Dep.join, which may report several problems", async () => {
    const both = Dep.join(
      { from: Form.required("from", Codec.int), to: Form.required("to", Codec.int) },
      ({ from, to }) =>
        from < to
          ? { from, to }
          : Dep.problems([
              Dep.problem({ at: "form.from", code: "too_large", message: "This must be less than the end." }),
              Dep.problem({ at: "form.to", code: "too_small", message: "This must be more than the start." }),
            ]),
    );
    const route = post(
      Path.root,
      { inputs: { both, name: Form.required("name", Codec.string) }, returns: Returns.text },
      ({ both }) => `${both.from}..${both.to}`,
    );
    const { body } = await Test.call(Test.app([route]), "POST", "/", {
      body: new URLSearchParams({ from: "2", to: "1" }),
    });
    expect(body).toBe(
      invalid(
        ["form.from", "too_large", "This must be less than the end."],
        ["form.to", "too_small", "This must be more than the start."],
        ["form.name", "required", "This is required."],
      ),
    );
    const right = await Test.call(Test.app([route]), "POST", "/", {
      body: new URLSearchParams({ from: "1", to: "2", name: "n" }),
    });
    expect(right.body).toBe("1..2");
  });

  it("can be chosen by Dep.bind", async () => {
    const which = Dep.bind(Header.required("x-field", Codec.string), (name) => Form.required(name, Codec.int));
    const route = post(Path.root, { inputs: { which }, returns: Returns.text }, ({ which }) => `${which}`);
    const { body } = await Test.call(Test.app([route]), "POST", "/", {
      body: new URLSearchParams({ a: "1", b: "2" }),
      headers: { "x-field": "b" },
    });
    expect(body).toBe("2");
  });
});

describe("a form: limits", () => {
  it("has a hundred thousand fields if they fit the limit", async () => {
    const many = post(
      Path.root,
      { inputs: { a: Form.list("a", Codec.int), z: Form.required("z", Codec.string) }, returns: Returns.text },
      ({ a, z }) => `${a.length} ${z}`,
    );
    const body = `${"a=1&".repeat(100_000)}z=end`;
    expect((await Test.call(Test.app([many]), "POST", "/", { body })).body).toBe("100000 end");
    const tooMany = await Test.call(Test.app([many]), "POST", "/", { body: body.repeat(3) });
    expect(tooMany.status).toBe(413);
  });
});

it("FM-18 reads the forms that a browser sends", async () => {
  const echo = post(
    Path.root,
    { inputs: { fields: Form.list("naïve name", Codec.string) }, returns: Returns.text },
    ({ fields }) => JSON.stringify(fields),
  );
  const echoes = Test.app([echo]);
  const text = fc.string({ unit: "grapheme", maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(text, fc.constant("1 + 1 = 2 & more"))), async (values) => {
      const pairs = values.map((value) => ["naïve name", value]);
      const { body } = await Test.call(echoes, "POST", "/", { body: new URLSearchParams(pairs) });
      expect(JSON.parse(body)).toEqual(values);
      const form = new FormData();
      for (const value of values) form.append("naïve name", value);
      const multipart = await Test.call(echoes, "POST", "/", { body: form });
      // A form's line ends are CRLF on the wire (HTML, "multipart/form-data").
      expect(JSON.parse(multipart.body)).toEqual(values.map((value) => value.replace(/\r\n|\r|\n/g, "\r\n")));
    }),
  );
});

/** Bytes that are almost a form of either encoding. */
const nearlyForm = fc
  .array(
    fc.oneof(
      fc.constantFrom("email=", "&", "age=1", "tag=%FF", "%", "+", "\r\n", "--b", "--", "\r\n--b\r\n", "\r\n--b--"),
      fc.constantFrom(
        'Content-Disposition: form-data; name="email"',
        "\r\n\r\n",
        '; filename="a"',
        "Content-Type: a/b",
      ),
      fc.string({ maxLength: 5 }),
      fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => Uint8Array.from(Buffer.from(pieces.join(""), "latin1")));

it("any bytes, in any chunks, are the same form or the same refusal", async () => {
  const { fetch } = App.make([profile]);
  const answerTo = async (parts: readonly Uint8Array[], contentType: string) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) if (part.byteLength > 0) controller.enqueue(part);
        controller.close();
      },
    });
    const headers = { "content-type": contentType };
    const init = { method: "POST", body, duplex: "half", headers } as const;
    const answer = await fetch(new Request("http://localhost/profile", init));
    return [answer.status, await answer.text()] as const;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(nearlyForm, fc.uint8Array({ maxLength: 200 })),
      fc.array(fc.nat(200), { maxLength: 8 }),
      fc.constantFrom(urlencoded, multipart),
      async (bytes, cuts, contentType) => {
        const whole = await answerTo([bytes], contentType);
        expect([200, 400]).toContain(whole[0]);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const parts = places.slice(1).map((place, i) => bytes.slice(places[i], place));
        expect(await answerTo(parts, contentType)).toEqual(whole);
      },
    ),
  );
});

it("a GET without a body is not refused for a missing form", async () => {
  const route = get(
    Path.root,
    { inputs: { name: Form.optional("name", Codec.string) }, returns: Returns.text },
    ({ name }) => name ?? "none",
  );
  expect((await Test.call(Test.app([route]), "GET", "/")).body).toBe("none");
});
