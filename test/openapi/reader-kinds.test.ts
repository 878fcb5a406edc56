/** The page's own reader with each kind of input, credential and response, behind a proxy that puts a prefix before the paths. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import {
  ApiKeys,
  Answer,
  Codec,
  Cookie,
  Dep,
  Form,
  Header,
  Meta,
  Openapi,
  Path,
  Query,
  Returns,
  Socket,
  bodyStream,
  get,
  param,
  post,
  put,
} from "usher-http";
import * as v from "valibot";
import { browser as chromium } from "../support/browser.ts";
import { serverOfTest } from "../support/http-server.ts";
import { start } from "../support/node-server.ts";
import { visit } from "./docs-browser.ts";
import "../support/logs.ts";

const id = Path.int("id");
const Received = v.object({ received: v.array(v.string()) });

const form = post(
  Path.of("form", id),
  {
    summary: "A form",
    inputs: {
      id: param(id),
      tag: Query.list("tag", Codec.string),
      size: Query.optional("size", v.picklist(["small", "large"])),
      theme: Cookie.optional(Cookie.named("theme", Codec.string)),
      email: Form.required("email", Codec.string),
      to: Form.list("to", Codec.string),
      photo: Form.File.optional("photo"),
    },
    returns: Returns.json(Received),
  },
  ({ id, tag, size, theme, email, to, photo }) => {
    return {
      received: [
        String(id),
        ...tag,
        size ?? "no size",
        theme ?? "no theme",
        email,
        ...to,
        photo?.filename ?? "no photo",
      ],
    };
  },
);

const upload = put(
  Path.of("upload"),
  {
    summary: "A picture",
    inputs: { upload: bodyStream({ max: 1000, contentTypes: ["image/*"] }) },
    returns: Returns.text,
  },
  async ({ upload }) => {
    const read = await upload.read();
    return read.ok ? `${read.value?.byteLength} bytes` : "not read";
  },
);

const bytes = Uint8Array.from([1, 2, 3]);
const made = (path: string, body: string | Uint8Array, contentType: string) =>
  get(Path.of(path), { summary: path, returns: Returns.response }, () => Answer.make(body, { contentType }));

const proof = (name: string, inputs: NonNullable<Parameters<typeof get>[1]["inputs"]>) =>
  get(Path.of("proof", name), { summary: name, inputs, returns: Returns.text }, () => "");

const chat = get(
  Path.of("chat"),
  {
    summary: "A chat",
    returns: Returns.websocket(
      Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["chat.v2", "chat"] }),
    ),
  },
  () => async (socket) => {
    for await (const text of socket) await socket.send(`echo ${text}`);
  },
);

const routes = [
  form,
  upload,
  made("binary", bytes, "application/octet-stream"),
  made("big", '{"n":12345678901234567890,"empty":{},"list":[[],[1]]}', "application/json"),
  made("page", "<script>alert(1)</script><h1>Hi</h1>", "text/html; charset=utf-8"),
  made(
    "drawing",
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(2)</script></svg>',
    "image/svg+xml",
  ),
  made("lines", '{"a":1}\n{"a":2}\n', "application/x-ndjson"),
  proof("key", { who: Dep.credential("key", Header.optional("x-key", Codec.string)) }),
  proof("asked", { who: Dep.credential("asked", Query.optional("key", Codec.string)) }),
  proof("scoped", {
    caller: ApiKeys.input(ApiKeys.make({ prefix: "shop", store: ApiKeys.memory() })).scope("read", "write"),
  }),
  proof("basic", { who: Dep.credential("basic", Header.optional("authorization", Codec.credentials)) }),
  get(
    Path.of("old"),
    { summary: "Old", meta: Meta.empty.add(Meta.deprecated, true), returns: Returns.empty() },
    () => {},
  ),
  chat,
];

/** A proxy that takes `/api` off the paths of an app. */
async function behindProxy(options: Openapi.DocsOptions): Promise<string> {
  const { port } = await start([...routes, ...Openapi.docs(routes, { title: "Kinds", ...options })]);
  const { url } = await serverOfTest((incoming, outgoing) => {
    const { method, headers } = incoming;
    const path = incoming.url?.replace(/^\/api/, "") ?? "/";
    const passed = request({ port, method, path, headers, host: "127.0.0.1" }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  return `${url}/api/docs`;
}

const open = async (anchor: string, then: (page: Page) => Promise<void>, options: Openapi.DocsOptions = {}) => {
  const url = await behindProxy({ servers: [{ url: "." }], ...options });
  await visit({ url: `${url}${anchor}` }, then);
};

const send = async (page: Page) => {
  await page.getByRole("button", { name: "Send" }).click();
  return page.locator(".outcome strong").textContent();
};
const shown = (page: Page) => page.getByLabel("The response's body").textContent();

describe.skipIf(chromium.isSkipped)(`the page's own reader: inputs${chromium.why}`, () => {
  it("sends a form with lists, an enum, a cookie and a file, to the server behind its prefix", () =>
    open("#post/form/%7Bid%7D", async (page) => {
      await page.getByRole("textbox", { name: "id" }).fill("7");
      await page.getByRole("textbox", { name: "tag" }).fill("a b\nc");
      await page.getByRole("combobox", { name: "size" }).selectOption("large");
      await page.getByRole("textbox", { name: "theme" }).fill("dark");
      await page.getByRole("textbox", { name: "email" }).fill("é@example.com");
      await page.getByRole("textbox", { name: "to" }).fill("x\ny");
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "p.png", mimeType: "image/png", buffer: Buffer.from("p") });
      expect(await send(page)).toBe("200 OK");
      const { received } = JSON.parse((await shown(page)) ?? "");
      expect(received).toEqual(["7", "a b", "c", "large", "dark", "é@example.com", "x", "y", "p.png"]);
    }));

  it("sends a file as the whole body, with its own type if the route accepts a range of types", () =>
    open("#put/upload", async (page) => {
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "p.png", mimeType: "image/png", buffer: Buffer.from("four") });
      const [sent] = await Promise.all([page.waitForRequest("**/upload"), send(page)]);
      expect((await sent.allHeaders())["content-type"]).toBe("image/png");
      expect(await shown(page)).toBe("4 bytes");
    }));

  it("can also read a document of OpenAPI 3.1", () =>
    open(
      "#get/old",
      async (page) => {
        await page.getByText("deprecated", { exact: true }).waitFor();
        expect(await send(page)).toBe("204 No Content");
      },
      { openapi: "3.1" },
    ));

  it("sends requests only to its own host, and copies a request for another host", () =>
    open(
      "#get/big",
      async (page) => {
        await page.getByRole("combobox", { name: "Server" }).selectOption("https://shop.example/v1");
        await page.getByRole("button", { name: "Send" }).click();
        await page.getByText("This page sends to its own host alone").waitFor();
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
        await page.getByRole("button", { name: "Copy as curl" }).click();
        await page.getByRole("button", { name: "Copied" }).waitFor();
        expect(await page.evaluate("navigator.clipboard.readText()")).toBe("curl 'https://shop.example/v1/big'");
      },
      { servers: [{ url: "." }, { url: "https://shop.example/v1" }, { url: "https://{region}.example" }] },
    ));
});

describe.skipIf(chromium.isSkipped)(`the page's own reader: credentials${chromium.why}`, () => {
  it("shows the scopes that an operation needs", () =>
    open("#get/proof/scoped", async (page) => {
      await page.getByText("bearerKey (read, write)", { exact: true }).waitFor();
      await page.getByText("Needs bearerKey read write", { exact: true }).waitFor();
    }));

  it.each([
    { name: "key", fill: { "x-key": "k 1" }, header: ["x-key", "k 1"], query: "" },
    { name: "asked", fill: { key: "k&1" }, header: ["x-key", undefined], query: "?key=k%261" },
    {
      name: "basic",
      fill: { User: "ada", Password: "p:w" },
      header: ["authorization", "Basic YWRhOnA6dw=="],
      query: "",
    },
  ] as const)("sends $name as its scheme requires", ({ name, fill, header, query }) =>
    open(`#get/proof/${name}`, async (page) => {
      await page.getByText(`Needs ${name}`).waitFor();
      await page.locator(".security").getByRole("button", { name: "Authorize" }).click();
      const scheme = page.getByRole("group", { name, exact: true });
      for (const [label, text] of Object.entries(fill)) await scheme.getByLabel(label, { exact: true }).fill(text);
      await page.getByRole("button", { name: "Apply" }).click();
      const [sent] = await Promise.all([page.waitForRequest("**/proof/**"), send(page)]);
      expect(new URL(sent.url()).search).toBe(query);
      expect((await sent.allHeaders())[header[0]]).toBe(header[1]);
    }),
  );
});

describe.skipIf(chromium.isSkipped)(`the page's own reader: responses${chromium.why}`, () => {
  it.each([
    ["big", '{\n  "n": 12345678901234567890,\n  "empty": {},\n  "list": [\n    [],\n    [\n      1\n    ]\n  ]\n}'],
    ["page", "<script>alert(1)</script><h1>Hi</h1>"],
    ["lines", '{"a":1}\n{"a":2}\n'],
  ])("shows %s as text, with every digit", (name, text) =>
    open(`#get/${name}`, async (page) => {
      expect(await send(page)).toBe("200 OK");
      await page.locator(".answer").getByRole("button", { name: "Copy" }).waitFor();
      expect(await shown(page)).toBe(text);
    }),
  );

  it("shows an image without running its scripts, and saves other binary data", () =>
    open("#get/drawing", async (page) => {
      await send(page);
      await page.getByRole("img", { name: "The response" }).waitFor();
      await page.evaluate('location.hash = "#get/binary"');
      await page.getByRole("heading", { name: "binary" }).waitFor();
      await send(page);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Save 3 bytes of application/octet-stream" }).click(),
      ]);
      const parts: Buffer[] = [];
      for await (const part of await download.createReadStream()) parts.push(part as Buffer);
      expect(Buffer.concat(parts)).toEqual(Buffer.from(bytes));
    }));

  it("uses the subprotocol of a WebSocket", async () => {
    const { port } = await start([...routes, ...Openapi.docs(routes)]);
    await visit({ url: `http://127.0.0.1:${port}/docs#get/chat` }, async (page) => {
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText("Open.").waitFor();
      await page.getByRole("textbox", { name: "Message" }).fill("hi");
      await page.getByRole("button", { name: "Send message" }).click();
      await page.getByText("echo hi").waitFor();
    });
  });
});
